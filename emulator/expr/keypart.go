package expr

// Part is the condition on one attribute, for keys of more attributes than For
// knows. The Range has no Hash.
func (k *KeyCondition) Part(name string) (Range, bool) {
	part := k.part(name)
	if part == nil {
		return Range{}, false
	}
	return Range{Op: part.op, Low: part.low, High: part.high}, true
}
