package automation

import (
	"context"
	"fmt"
	"time"

	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
)

// defaultTermMonths is the next term of a saga whose lease is not in the
// portfolio.
const defaultTermMonths = 12

// Report is what one health comparison found.
type Report struct {
	Sagas    int
	Flows    int
	Repaired []temporalsaga.Finding
	Left     []temporalsaga.Finding // for a person to look at
}

// Health holds the open sagas against the workflows, both ways, and repairs what
// is safe to repair.
func (a *Automation) Health(ctx context.Context, sagas []renewal.Saga) (Report, error) {
	flows, err := a.renewals.Flows(ctx)
	if err != nil {
		return Report{}, err
	}
	now := time.Now()
	standings := make([]temporalsaga.Standing, 0, len(sagas))
	for _, saga := range sagas {
		standings = append(standings, a.standing(saga))
	}
	report := Report{Sagas: len(sagas), Flows: len(flows)}
	for _, finding := range temporalsaga.Compare(standings, flows, now, a.options.Settled) {
		if err := a.treat(ctx, &report, finding); err != nil {
			return report, err
		}
	}
	return report, a.lookForStuck(ctx, &report, standings, now)
}

func (a *Automation) treat(ctx context.Context, report *Report, finding temporalsaga.Finding) error {
	if finding.Fault == temporalsaga.NoWorkflow || finding.Fault == temporalsaga.ClosedWorkflow {
		lease, err := a.options.Portfolio.Lease(ctx, finding.Lease.ID)
		if err != nil {
			return err
		}
		if lease.TermMonths > 0 {
			finding.Lease.TermMonths = lease.TermMonths
		}
	}
	repaired, err := a.renewals.Repair(ctx, finding)
	if err != nil {
		return fmt.Errorf("repair %s: %w", finding.WorkflowID, err)
	}
	if repaired {
		a.options.Log.InfoContext(ctx, "renewal repaired", "finding", finding.String())
		report.Repaired = append(report.Repaired, finding)
	} else if !finding.Fault.Repairable() {
		a.options.Log.WarnContext(ctx, "renewal needs a person", "finding", finding.String())
		report.Left = append(report.Left, finding)
	}
	return nil
}

// lookForStuck asks about those renewals that should be doing something and have
// not for long.
func (a *Automation) lookForStuck(ctx context.Context, report *Report, standings []temporalsaga.Standing, now time.Time) error {
	for _, s := range standings {
		if !busy(s.Saga.State) || now.Sub(s.Saga.StateSince) < a.options.Stuck {
			continue
		}
		finding, stuck, err := a.renewals.Stuck(ctx, s)
		if err != nil {
			return err
		}
		if stuck {
			a.options.Log.WarnContext(ctx, "renewal is stuck", "finding", finding.String())
			report.Left = append(report.Left, finding)
		}
	}
	return nil
}

// busy: the next step is the automation's own, so standing still is a sign.
func busy(state renewal.State) bool {
	switch state {
	case renewal.Opened, renewal.Preparing, renewal.Prepared, renewal.Signed:
		return true
	default:
		return false
	}
}

func (a *Automation) standing(saga renewal.Saga) temporalsaga.Standing {
	return temporalsaga.Standing{Saga: temporalsaga.SnapshotOf(saga), Lease: LeaseOf(saga)}
}

// LeaseOf is the lease that a saga speaks of, as far as the saga knows it.
func LeaseOf(saga renewal.Saga) temporalsaga.Lease {
	return temporalsaga.Lease{
		ID: saga.LeaseID, PersonID: saga.PersonID, PropertyID: saga.PropertyID, Unit: saga.Unit,
		Ends: saga.LeaseEnd, RentCents: saga.Offer.RentCents, TermMonths: defaultTermMonths,
	}
}
