// Package secretfile reads the secrets that an operator keeps in files. Its errors name
// the file and say what belongs there; they never show what was read.
package secretfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// maxBytes is far above any secret, or list of them, that a file holds.
const maxBytes = 256 << 10

// Read is the text of a file without the white space around it. Holds says what belongs
// there, as in "an API key on one line". An empty file is an error, as one of more than
// 256 KiB is.
func Read(path, holds string) (string, error) {
	data, err := read(path)
	if pathError, ok := errors.AsType[*fs.PathError](err); ok { // which would name the file again
		err = pathError.Err
	}
	if err != nil {
		return "", fmt.Errorf("couldn't read the file %s, which should hold %s: %w", path, holds, err)
	}
	text := strings.TrimSpace(string(data))
	if text == "" || len(data) > maxBytes {
		return "", Wrong("the file "+path, holds)
	}
	return text, nil
}

func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxBytes+1))
}

// Wrong is the error for a place, a file or a variable of the environment, that doesn't
// hold what belongs there.
func Wrong(place, holds string) error {
	return fmt.Errorf("%s is empty or holds something else: it should hold %s", place, holds)
}
