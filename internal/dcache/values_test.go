package dcache

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func putValues(t testing.TB, db *DB, cache Cache, class string, values map[string][]byte) {
	t.Helper()
	if err := db.PutValues(t.Context(), cache, class, values); err != nil {
		t.Fatal(err)
	}
}

func getValues(t testing.TB, db *DB, cache Cache, class string, keys ...string) map[string][]byte {
	t.Helper()
	got, err := db.Values(t.Context(), cache, class, keys)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestValuesComeBackAsTheyWereStored(t *testing.T) {
	t.Parallel()
	db := openStore(t, Config{DigestBytes: 8 << 20, EmbedBytes: 8 << 20})
	want := map[string][]byte{
		"": []byte("of no key"), "nothing": {}, "text": []byte("a\x00\xff"), "\x80\xff": []byte("of a key that is not UTF-8"),
		"'\"],[": []byte("of a key in no list"), "long": noise("x", MaxValueBytes),
	}
	keys := []string{"missing", "text", "text"} // asked for twice
	for key := range want {
		keys = append(keys, key)
	}
	for _, cache := range []Cache{CacheDigest, CacheEmbed} {
		putValues(t, db, cache, "default", want)
		if d := cmp.Diff(want, getValues(t, db, cache, "default", keys...), cmp.Comparer(bytes.Equal)); d != "" {
			t.Errorf("%s (-want +got):\n%s", cache, d)
		}
	}
	if got := getValues(t, db, CacheDigest, "default"); got == nil || len(got) != 0 {
		t.Errorf("for no keys: %v", got)
	}
	checkSound(t, db)
}

func TestAsManyValuesAsAreAllowedAreStoredAndReadAtOnce(t *testing.T) {
	t.Parallel()
	db := openStore(t, Config{EmbedBytes: 64 << 20})
	want := make(map[string][]byte)
	var keys []string
	for i := range MaxValues {
		key := fmt.Sprint(i)
		keys = append(keys, key)
		want[key] = noise(key, 1000)
	}
	putValues(t, db, CacheEmbed, "default", want)
	if d := cmp.Diff(want, getValues(t, db, CacheEmbed, "default", keys...), cmp.Comparer(bytes.Equal)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, err := db.Values(t.Context(), CacheEmbed, "default", append(keys, "more")); err == nil {
		t.Error("more keys were taken")
	}
	want["more"] = nil
	if err := db.PutValues(t.Context(), CacheEmbed, "default", want); err == nil {
		t.Error("more values were taken")
	}
	checkSound(t, db)
}
