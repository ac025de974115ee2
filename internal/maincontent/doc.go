// Package maincontent decides which parts of a web page are its content: what
// the page is there for, without menus, banners, teasers of other pages and
// legal lines. It works on the normal form of package normalize, is pure, and
// takes time linear in the size of the page but for a logarithm.
//
// A page is cut into blocks, the longest runs of text and inline elements with
// no block element between them. Each block is described by a fixed list of
// numbers, its features, most of which speak of the elements around it, of its
// neighbours and of blocks built like it. Boosted decision trees, trained on
// pages whose content people have marked, turn them into the probability that
// the block is content, and one cut for the whole page turns those into a
// choice. docs/extraction.md describes method, data and figures.
package maincontent
