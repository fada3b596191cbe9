package expr

import "strconv"

// What the service counts for a statement besides the values and names in it, in
// bytes. The figures were measured; nothing explains them.
const (
	chargeUpdate      = 3
	chargeWrite       = 19 // each SET and ADD
	chargeTake        = 1  // each REMOVE and DELETE
	chargePath        = 1  // a path as an operand
	chargePathStep    = 14
	chargeTargetStep  = 4
	chargeIfNotExists = 39
	chargeListAppend  = 37
	chargePlus        = 34
	chargeMinus       = 37
)

// Charge is the size that the service holds against its limit of an item before
// it runs an UpdateItem: what the statement carries, not what it makes of an item.
func (u *Update) Charge() int {
	total := chargeUpdate
	for i, s := range u.sections {
		total += chargeTarget(u.targets[i])
		switch s.kind {
		case sectionSet, sectionAdd:
			total += chargeWrite + u.chargeOperand(s.operand)
		default:
			total += chargeTake
		}
	}
	return total
}

func chargeTarget(p path) int {
	total := len(p[0].name)
	for _, s := range p[1:] {
		total += chargeTargetStep + s.size()
	}
	return total
}

func (s step) size() int {
	if s.index >= 0 {
		return len(strconv.Itoa(s.index))
	}
	return len(s.name)
}

func (u *Update) chargeOperand(n *node) int {
	switch n.kind {
	case nodeValue:
		return u.values[n.slot].Size()
	case nodePath:
		total := chargePath
		for _, s := range u.paths[n.slot] {
			total += chargePathStep + s.size()
		}
		return total
	}
	total := map[string]int{"if_not_exists": chargeIfNotExists, "list_append": chargeListAppend, "+": chargePlus, "-": chargeMinus}[n.op]
	for _, arg := range n.args {
		total += u.chargeOperand(arg)
	}
	return total
}
