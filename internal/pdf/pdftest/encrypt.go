package pdftest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/rc4"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
)

// A Cipher is one of the ways in which the standard encrypts a file.
type Cipher int

// The ciphers, the present one first.
const (
	AES256 Cipher = iota // V 5, R 6 (PDF 2.0)
	AES128               // V 4, R 4 (PDF 1.6)
	RC4                  // V 2, R 3 with 128 bits (PDF 1.4)
)

// Encryption locks a document. An empty User opens it for everyone, as the
// many files do that only forbid copying.
type Encryption struct {
	Cipher Cipher
	User   string // opens the file
	Owner  string // "": the same as User
}

// permissions forbid everything that a file may forbid (Table 22): readers
// that extract for search or accessibility go on all the same.
const permissions = -3904

type crypt struct {
	cipher Cipher
	key    []byte
	id     []byte
	ref    Ref // the encryption dictionary, which is not encrypted itself
}

// encrypt locks f. It must come after the last object is added.
func (f *File) encrypt(e Encryption) {
	if e.Owner == "" {
		e.Owner = e.User
	}
	c := &crypt{cipher: e.Cipher, id: bytes.Clone(f.id())}
	var d Dict
	switch e.Cipher {
	case AES256:
		f.Version = "2.0"
		d = c.aes256(e)
	case AES128, RC4:
		d = c.md5Based(e)
	default:
		panic(fmt.Sprintf("pdftest: no cipher %d", e.Cipher))
	}
	d["Filter"] = Name("Standard")
	d["P"] = permissions
	c.ref = f.Add(d)
	f.crypt = c
}

// salt stands for random bytes: the same for the same label.
func salt(label string, n int) []byte {
	sum := sha512.Sum512([]byte("pdftest " + label))
	return sum[:n]
}

func cbc(key, iv, data []byte) []byte {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	out := make([]byte, len(data))
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(out, data)
	return out
}

// aes256 makes the key and its dictionary by algorithms 8, 9 and 10 of
// ISO 32000-2, 7.6.4.4.
func (c *crypt) aes256(e Encryption) Dict {
	c.key = salt("file key "+e.User+"\x00"+e.Owner, 32)
	zero := make([]byte, aes.BlockSize)
	lock := func(password, label string, u []byte) (verifier, wrapped []byte) {
		validation, keySalt := salt(label+" validation", 8), salt(label+" key", 8)
		verifier = append(hash2B(password, validation, u), append(validation, keySalt...)...)
		return verifier, cbc(hash2B(password, keySalt, u), zero, c.key)
	}
	u, ue := lock(e.User, "user", nil)
	o, oe := lock(e.Owner, "owner", u)

	perms := binary.LittleEndian.AppendUint32(nil, 1<<32+permissions)
	perms = append(perms, 0xff, 0xff, 0xff, 0xff, 'T', 'a', 'd', 'b')
	perms = append(perms, salt("perms", 4)...)
	return Dict{
		"V": 5, "R": 6, "Length": 256,
		"U": String(u), "UE": String(ue), "O": String(o), "OE": String(oe),
		"Perms": String(cbc(c.key, zero, perms)), // one block: ECB and CBC are the same
		"CF":    Dict{"StdCF": Dict{"CFM": Name("AESV3"), "AuthEvent": Name("DocOpen"), "Length": 32}},
		"StmF":  Name("StdCF"), "StrF": Name("StdCF"),
	}
}

// hash2B is algorithm 2.B: the hash of revision 6, hard to compute on purpose.
func hash2B(password string, salt, u []byte) []byte {
	input := append([]byte(password), salt...)
	first := sha256.Sum256(append(input, u...))
	k := first[:]
	for round := 0; ; round++ {
		one := append(append([]byte(password), k...), u...)
		e := cbc(k[:16], k[16:32], bytes.Repeat(one, 64))
		sum := 0
		for _, b := range e[:16] {
			sum += int(b)
		}
		switch sum % 3 {
		case 0:
			h := sha256.Sum256(e)
			k = h[:]
		case 1:
			h := sha512.Sum384(e)
			k = h[:]
		default:
			h := sha512.Sum512(e)
			k = h[:]
		}
		if round >= 63 && int(e[len(e)-1]) <= round-31 {
			return k[:32]
		}
	}
}

// md5Based makes the key and its dictionary by algorithms 2, 3 and 5 of
// ISO 32000-1, 7.6.3.
func (c *crypt) md5Based(e Encryption) Dict {
	const padding = "\x28\xbf\x4e\x5e\x4e\x75\x8a\x41\x64\x00\x4e\x56\xff\xfa\x01\x08\x2e\x2e\x00\xb6\xd0\x68\x3e\x80\x2f\x0c\xa9\xfe\x64\x53\x69\x7a"
	padded := func(password string) []byte { return []byte((password + padding)[:32]) }
	rounds := func(sum [16]byte) []byte {
		for range 50 {
			sum = md5.Sum(sum[:])
		}
		return sum[:]
	}
	chain := func(key, data []byte) []byte {
		for i := range 20 {
			k := bytes.Clone(key)
			for j := range k {
				k[j] ^= byte(i)
			}
			data = rc4Of(k, data)
		}
		return data
	}
	o := chain(rounds(md5.Sum(padded(e.Owner))), padded(e.User))
	input := append(padded(e.User), o...)
	input = binary.LittleEndian.AppendUint32(input, 1<<32+permissions)
	c.key = rounds(md5.Sum(append(input, c.id...)))
	check := md5.Sum(append([]byte(padding), c.id...))
	u := append(chain(c.key, check[:]), make([]byte, 16)...)

	d := Dict{"V": 2, "R": 3, "Length": 128, "O": String(o), "U": String(u)}
	if c.cipher == AES128 {
		d["V"], d["R"] = 4, 4
		d["CF"] = Dict{"StdCF": Dict{"CFM": Name("AESV2"), "AuthEvent": Name("DocOpen"), "Length": 16}}
		d["StmF"], d["StrF"] = Name("StdCF"), Name("StdCF")
	}
	return d
}

func rc4Of(key, data []byte) []byte {
	r, err := rc4.NewCipher(key)
	if err != nil {
		panic(err)
	}
	out := make([]byte, len(data))
	r.XORKeyStream(out, data)
	return out
}

// encrypt is algorithm 1 or, for AES-256, 1.A.
func (c *crypt) encrypt(number int, data []byte) []byte {
	key := c.key
	if c.cipher != AES256 {
		in := append(bytes.Clone(key), byte(number), byte(number>>8), byte(number>>16), 0, 0)
		if c.cipher == AES128 {
			in = append(in, "sAlT"...)
		}
		sum := md5.Sum(in)
		key = sum[:]
	}
	if c.cipher == RC4 {
		return rc4Of(key, data)
	}
	iv := salt(fmt.Sprintf("iv %d %s", number, data), aes.BlockSize)
	pad := aes.BlockSize - len(data)%aes.BlockSize
	data = append(bytes.Clone(data), bytes.Repeat([]byte{byte(pad)}, pad)...)
	return append(iv, cbc(key, iv, data)...)
}
