package portfolio

import (
	"strconv"
	"strings"

	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
)

// position writes a base key as one text: the length of the first part stands
// in front, because either part may contain any character.
func position(pk, sk string) string { return strconv.Itoa(len(pk)) + ":" + pk + sk }

func parsePosition(text string) (pk, sk string, err error) {
	length, rest, ok := strings.Cut(text, ":")
	size, convErr := strconv.Atoi(length)
	if !ok || convErr != nil || size < 0 || size > len(rest) {
		return "", "", &temporalsaga.InputError{Subject: "walk", Faults: []string{"position is none of ours"}}
	}
	return rest[:size], rest[size:], nil
}

func splitKey(pk string) (kind, id string) {
	kind, id, _ = strings.Cut(pk, "#")
	return kind, id
}
