package pdftest

import (
	"bytes"
	"compress/zlib"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/rc4"
	"encoding/hex"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The user string of a file that qpdf locked with this password (revision 6):
// a hash, a validation salt and a key salt.
func TestTheHashOfRevision6IsThatOfOtherWriters(t *testing.T) {
	u := unhex(t, "ae700c793d687882958ce411fed797a6364e182dc4cb8c3819d347b9d577c3526d9fd5c2b9fe54cfed6539accc53ac28")
	if got := hash2B("asdfzxcv", u[32:40], nil); !bytes.Equal(got, u[:32]) {
		t.Errorf("got %x, want %x", got, u[:32])
	}
	if got := hash2B("asdfzxcw", u[32:40], nil); bytes.Equal(got, u[:32]) {
		t.Error("another password has the same hash")
	}
}

func hexEntry(t *testing.T, file []byte, key string) []byte {
	t.Helper()
	m := regexp.MustCompile(`/` + key + ` <([0-9a-f]+)>`).FindSubmatch(file)
	if m == nil {
		t.Fatalf("the file has no %s", key)
	}
	return unhex(t, string(m[1]))
}

func cbcOpen(t *testing.T, key, iv, data []byte) []byte {
	t.Helper()
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	out := bytes.Clone(data)
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(out, data)
	return out
}

// fileKey is how a reader gets the key: algorithm 2.A for AES-256, else
// algorithm 2.
func fileKey(t *testing.T, file []byte, c Cipher, password string) []byte {
	t.Helper()
	if c == AES256 {
		u := hexEntry(t, file, "U")
		return cbcOpen(t, hash2B(password, u[40:48], nil), make([]byte, 16), hexEntry(t, file, "UE"))
	}
	pad := unhex(t, "28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
	in := append([]byte(password), pad...)[:32]
	in = append(in, hexEntry(t, file, "O")...)
	in = append(in, 0xc0, 0xf0, 0xff, 0xff) // -3904, the low byte first
	id := regexp.MustCompile(`/ID \[<([0-9a-f]+)>`).FindSubmatch(file)
	sum := md5.Sum(append(in, unhex(t, string(id[1]))...))
	for range 50 {
		sum = md5.Sum(sum[:])
	}
	return sum[:]
}

// content decrypts the first compressed stream of a file.
func content(t *testing.T, file []byte, c Cipher, password string) string {
	t.Helper()
	m := regexp.MustCompile(`(\d+) 0 obj\n<</Filter /FlateDecode/Length (\d+)>>\nstream\n`).FindSubmatchIndex(file)
	if m == nil {
		t.Fatal("the file has no compressed stream")
	}
	number, _ := strconv.Atoi(string(file[m[2]:m[3]]))
	length, _ := strconv.Atoi(string(file[m[4]:m[5]]))
	data := file[m[1] : m[1]+length]
	key := fileKey(t, file, c, password)
	if c != AES256 {
		key = append(key, byte(number), byte(number>>8), 0, 0, 0)
		if c == AES128 {
			key = append(key, "sAlT"...)
		}
		sum := md5.Sum(key)
		key = sum[:]
	}
	if c == RC4 {
		r, err := rc4.NewCipher(key)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]byte, len(data))
		r.XORKeyStream(out, data)
		data = out
	} else {
		data = cbcOpen(t, key, data[:16], data[16:])
	}
	z, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return ""
	}
	out, err := io.ReadAll(z)
	if err != nil {
		return ""
	}
	return string(out)
}

func TestALockedFileOpensWithItsPasswordOnly(t *testing.T) {
	for _, c := range []Cipher{AES256, AES128, RC4} {
		for _, password := range []string{"geheim", ""} {
			file := EncryptedWith(c, password)
			if bytes.Contains(file, []byte("vault")) || bytes.Contains(file, []byte("A locked document")) {
				t.Errorf("cipher %d: what is locked stands in the file", c)
			}
			if got := content(t, file, c, password); !strings.Contains(got, "(The vault is open.) Tj") {
				t.Errorf("cipher %d, password %q: got %q", c, password, got)
			}
			if got := content(t, file, c, "wrong"); strings.Contains(got, "vault") {
				t.Errorf("cipher %d: a wrong password opens the file", c)
			}
		}
	}
}

// PDFium and poppler opened files with these strings; the writer must not
// drift away from them.
func TestTheStringsOfOldCiphersStayAsReadersAcceptedThem(t *testing.T) {
	file := EncryptedWith(RC4, "geheim")
	for key, want := range map[string]string{
		"O": "a87d3fb97decb3340e6cc1e951cfbf06a6901d00cc1a4c2343fefdf32a50f36d",
		"U": "bd7e58c14e9b4cf948c1ef7f93bb297b00000000000000000000000000000000",
	} {
		if got := hex.EncodeToString(hexEntry(t, file, key)); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
}
