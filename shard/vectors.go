package shard

import "fmt"

// Vector is one proof that another implementation agrees with this one.
type Vector struct {
	Function string `json:"function"`
	Base     string `json:"base"`
	Count    int    `json:"count"`
	Owner    string `json:"owner"`
	Hash     string `json:"hash"` // 16 hex digits
	Shard    int    `json:"shard"`
	Key      string `json:"key"`
}

// vectorOwners are chosen for what breaks implementations: multi-byte text,
// combining marks that must not be normalised, separators, control bytes, long
// ids, and hashes whose top bit is set.
var vectorOwners = []string{
	"person-1", "person-2", "person-6", "person-1000002", "A", "a", "0",
	"Łukasz", "Zoë", "Zoe\u0308", "李小龍", "🏠", "person 7", "A#", "#B", "a\x00b", "a\nb",
	"c0a8012e-77aa-4c53-8d19-2f60b1e4a7d3", "01HZX3K9V7Q2M8N4T6B5C1D0EF",
	"018f3c2e-7b1a-7000-8000-0123456789ab", "tenant-0001/user-0001",
	longOwner(200), longOwner(2000),
}

var vectorCounts = []int{0, 1, 2, 3, 5, 7, 10, 12, 16, 32, 64, 100}

func longOwner(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyz0123456789"[i%36]
	}
	return string(b)
}

// Vectors lists test vectors for every implementation of the shard function.
func Vectors() []Vector {
	var vectors []Vector
	for _, owner := range vectorOwners {
		for _, count := range vectorCounts {
			l := Layout{Base: "RenewalSaga", Count: count}
			vectors = append(vectors, Vector{
				Function: Function, Base: l.Base, Count: count, Owner: owner,
				Hash: fmt.Sprintf("%016x", Hash(owner)), Shard: l.Shard(owner), Key: l.Key(owner),
			})
		}
	}
	return vectors
}
