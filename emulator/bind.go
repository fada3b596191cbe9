package emulator

import (
	"errors"

	"github.com/hotsplit/hotsplit/emulator/attr"
	"github.com/hotsplit/hotsplit/emulator/expr"
)

// refuse is the answer to legacy parameters, which this emulator leaves out.
// Mixed with expressions they are wrong on the service too, and said to be.
func (l Legacy) refuse(expressions ...string) error {
	if len(l) == 0 {
		return nil
	}
	if len(expressions) > 0 {
		return invalid("Can not use both expression and non-expression parameters in the same request: " +
			"Non-expression parameters: {" + join(l) + "} Expression parameters: {" + join(expressions) + "}")
	}
	return invalid("hotsplit emulator: the legacy parameters {" + join(l) + "} are not supported; use expressions")
}

func join(names []string) string {
	s := ""
	for i, n := range names {
		if i > 0 {
			s += ", "
		}
		s += n
	}
	return s
}

// named lists the names of the expressions that are present.
func named(pairs ...any) []string {
	var names []string
	for i := 0; i < len(pairs); i += 2 {
		if text, _ := pairs[i+1].(*string); text != nil {
			names = append(names, pairs[i].(string))
		}
	}
	return names
}

// checkPresent refuses placeholders without an expression to use them in. Values
// are of no use to a projection.
func (x Expressions) checkPresent(missing string, projection *string, users ...*string) error {
	used := false
	for _, u := range users {
		used = used || u != nil
	}
	if x.Names != nil && !used && projection == nil {
		return invalid("ExpressionAttributeNames can only be specified when using expressions")
	}
	if x.Values != nil && !used {
		return invalid("ExpressionAttributeValues can only be specified when using expressions" + missing)
	}
	return nil
}

// exprError is an error of package expr as the service answers it.
func exprError(err error) error {
	if err == nil {
		return nil
	}
	return invalid(err.Error())
}

// valueError is what is wrong about a value, in the words of the service's newer
// checks.
func valueError(err error) error {
	if err == nil {
		return nil
	}
	return invalid(err.Error())
}

// olderValueError is the same in the words of the checks that batches of writes,
// scans and transactions still have.
func olderValueError(err error) error {
	if v, ok := errors.AsType[*attr.InvalidError](err); ok {
		return invalid(v.Older)
	}
	return valueError(err)
}

// enveloped is how single writes report what they find before they look for the
// table.
func enveloped(err error) error {
	if e, ok := err.(*Error); ok {
		e.Message = "1 validation error detected: " + e.Message
	}
	return err
}

// enveloped does the same for a request with these expressions and this item or
// key, unless a value nests too deep for the checks that do so.
func (x Expressions) enveloped(item attr.Item, err error) error {
	if err == nil || isDeep(item.Err()) {
		return err
	}
	for _, v := range x.Values {
		if isDeep(v.Err()) {
			return err
		}
	}
	return enveloped(err)
}

func isDeep(err error) bool {
	v, ok := errors.AsType[*attr.InvalidError](err)
	return ok && v.Deep
}

func bindProjection(exprs *expr.Cache, names map[string]string, text *string) (*expr.Projection, error) {
	if err := (Expressions{Names: names}).checkPresent("", text); err != nil || text == nil {
		return nil, err
	}
	b := exprs.Binder(names, nil)
	p, err := b.Projection(*text)
	if err == nil {
		err = b.Done()
	}
	return p, exprError(err)
}

// bindWrite binds the expressions of a write. older asks for the words that
// transactions use and for their order: an update before its condition.
func (x Expressions) bindWrite(exprs *expr.Cache, updateText, conditionText *string, older bool) (update *expr.Update, condition *expr.Condition, err error) {
	if err := x.checkPresent("", nil, updateText, conditionText); err != nil {
		return nil, nil, err
	}
	if updateText == nil && conditionText == nil {
		return nil, nil, nil
	}
	b := exprs.Binder(x.Names, x.Values)
	b.Older = older
	bindUpdate := func() {
		if err == nil && updateText != nil {
			update, err = b.Update(*updateText)
		}
	}
	if older {
		bindUpdate()
	}
	if err == nil && conditionText != nil {
		condition, err = b.Condition(*conditionText)
	}
	if !older {
		bindUpdate()
	}
	if err == nil {
		err = b.Done()
	}
	if err != nil {
		return nil, nil, exprError(err)
	}
	return update, condition, nil
}

// bindPage binds the expressions of a Query or Scan.
func (x Expressions) bindPage(exprs *expr.Cache, older bool, key, filter, projection *string) (q conditions, err error) {
	if err := x.checkPresent(": FilterExpression and KeyConditionExpression are null", projection, key, filter); err != nil {
		return q, err
	}
	b := exprs.Binder(x.Names, x.Values)
	b.Older = older
	if key != nil {
		if q.key, err = b.KeyCondition(*key); err != nil {
			return q, exprError(err)
		}
	}
	if filter != nil {
		if q.filter, err = b.Filter(*filter); err != nil {
			return q, exprError(err)
		}
	}
	if projection != nil {
		if q.projection, err = b.Projection(*projection); err != nil {
			return q, exprError(err)
		}
	}
	return q, exprError(b.Done())
}
