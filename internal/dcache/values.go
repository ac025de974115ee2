package dcache

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

const (
	// MaxValues is how many keys one Values or PutValues takes.
	MaxValues = 4096

	// MaxValueBytes is the longest value that is kept.
	MaxValueBytes = 1 << 20

	// maxValuesBytes is how much one Values gives and one PutValues stores.
	maxValuesBytes = 32 << 20
)

// valueOverhead is what a value takes in the file beside its own bytes and its
// class: the numbers of its two rows, and its places in two indexes, one of
// which is filled in no order and so never to the brim.
const valueOverhead = 144

// valueBytes is about what a value takes in the file. Values of a cache are
// mostly of one size, and what a page has left over is lost to each of them.
func valueBytes(class string, data []byte) int64 {
	const page, row = 4096, 16
	n := stored(len(data))
	if whole := int64(page / (len(data) + row)); whole > 0 {
		n = page / whole
	}
	return n + valueOverhead + 2*int64(len(class))
}

// valueBudget is the budget of a cache of small values.
func (db *DB) valueBudget(cache Cache) (*budget, error) {
	if cache != CacheDigest && cache != CacheEmbed {
		return nil, fmt.Errorf("%q is not a cache of small values", cache)
	}
	return db.budgets[cache], nil
}

// One statement, and so of one moment, for any number of keys: they come as a
// list in JSON, which does not count against SQLite's limit on variables.
const sqlValues = `SELECT k.key, v.id, d.data
	FROM json_each(?3) AS k
		CROSS JOIN value AS v ON v.cache = ?1 AND v.class = ?2 AND v.key_hash = unhex(k.value)
		CROSS JOIN value_data AS d ON d.id = v.id`

// Values gives those of the keys that the cache holds for the class: at most
// MaxValues keys, and of very long values those that come to 32 MiB together.
func (db *DB) Values(ctx context.Context, cache Cache, class string, keys []string) (map[string][]byte, error) {
	const op = "read values"
	if _, err := db.valueBudget(cache); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if len(keys) > MaxValues {
		return nil, fmt.Errorf("%s: %d keys at once; give at most %d", op, len(keys), MaxValues)
	}
	found := make(map[string][]byte)
	if len(keys) == 0 {
		return found, nil
	}
	used, err := db.readValues(ctx, cache, class, keys, found)
	if err != nil {
		return nil, db.explain(op, err)
	}
	db.valueUses.note(used...)
	return found, nil
}

func (db *DB) readValues(ctx context.Context, cache Cache, class string, keys []string, found map[string][]byte) (used []int64, err error) {
	rows, err := db.values.QueryContext(ctx, cache, class, hashes(keys))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var i int
	var id int64
	var data sql.RawBytes // of this row only: saves a copy
	for sum := 0; rows.Next(); {
		if err := rows.Scan(&i, &id, &data); err != nil {
			return nil, err
		}
		if len(data) > MaxValueBytes {
			return nil, db.damaged("read values", fmt.Errorf("a value has %d bytes", len(data)))
		}
		if sum += len(data); sum > maxValuesBytes {
			break
		}
		found[keys[i]] = append([]byte{}, data...)
		used = append(used, id)
	}
	return used, rows.Err()
}

// hashes is the list of the keys' hashes for an SQL statement.
func hashes(keys []string) string {
	list := make([]byte, 0, len(keys)*67+2)
	for i, key := range keys {
		list = append(list, `,"`...)
		list = append(hex.AppendEncode(list, hash(key)), '"')
		if i == 0 {
			list[0] = '['
		}
	}
	return string(append(list, ']'))
}

const (
	sqlReplaceValues = `DELETE FROM value
	WHERE cache = ?1 AND class = ?2 AND key_hash IN (SELECT unhex(value) FROM json_each(?3))`

	sqlNextValueUse = `SELECT coalesce(max(used), 0) + 1 FROM value WHERE cache = ?`

	sqlInsertValue = `INSERT INTO value (cache, class, key_hash, nbytes, used) VALUES (?, ?, ?, ?, ?)`

	sqlInsertValueData = `INSERT INTO value_data (id, data) VALUES (?, ?)`
)

// PutValues stores values in a cache, at most MaxValues, in place of those that
// it has of the same class and keys. The least recently used make room. They
// are stored in one transaction: all of them or none.
//
// A value over MaxValueBytes is not kept, nor what is more than the budget of
// the cache or 32 MiB; the others are stored all the same, and the error is
// ErrTooBig and says how many were not.
//
// values is not kept and must not be changed until PutValues returns.
func (db *DB) PutValues(ctx context.Context, cache Cache, class string, values map[string][]byte) error {
	const op = "store values"
	b, err := db.valueBudget(cache)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	if len(values) > MaxValues {
		return fmt.Errorf("%s: %d at once; give at most %d", op, len(values), MaxValues)
	}
	limit := min(b.max, maxValuesBytes)
	var keys []string
	var nbytes int64
	for _, key := range slices.Sorted(maps.Keys(values)) {
		n := valueBytes(class, values[key])
		if len(values[key]) <= MaxValueBytes && nbytes+n <= limit {
			keys = append(keys, key)
			nbytes += n
		}
	}
	if len(keys) > 0 {
		list := hashes(keys)
		replace := func(ctx context.Context, tx *sql.Tx, _ *removed) error {
			_, err := tx.ExecContext(ctx, sqlReplaceValues, cache, class, list)
			return err
		}
		err := db.put(ctx, op, b, nbytes, replace, func(ctx context.Context, tx *sql.Tx) error {
			return db.insertValues(ctx, tx, cache, class, keys, values)
		})
		if err != nil {
			return err
		}
	}
	if left := len(values) - len(keys); left > 0 {
		return &fault{kind: ErrTooBig, text: fmt.Sprintf("%s: %d of %d are over %d bytes, or more than fits into %s (%d), and are not kept",
			op, left, len(values), MaxValueBytes, b.option, b.max)}
	}
	return nil
}

func (db *DB) insertValues(ctx context.Context, tx *sql.Tx, cache Cache, class string, keys []string, values map[string][]byte) error {
	var used int64 // of all of them: they are of one use
	if err := tx.QueryRowContext(ctx, sqlNextValueUse, cache).Scan(&used); err != nil {
		return err
	}
	value, data := within(ctx, tx, db.insertValue), within(ctx, tx, db.insertValueData)
	for _, key := range keys {
		r, err := value.ExecContext(ctx, cache, class, hash(key), valueBytes(class, values[key]), used)
		if err != nil {
			return err
		}
		id, err := r.LastInsertId()
		if err != nil {
			return err
		}
		if _, err := data.ExecContext(ctx, id, notNil(values[key])); err != nil {
			return err
		}
	}
	return nil
}
