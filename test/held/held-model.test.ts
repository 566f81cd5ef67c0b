import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import type { Draft } from '../../src/protocol/draft.ts'
import type { BalancesSetting } from '../../src/publish/admission/admission.ts'
import { openCampaign } from '../torture/campaign.ts'
import { assertCovered, type HeldModel, type ModelAnswer, openHeldModel } from './held-model.ts'
import { CHAIN, type HeldStage, openHeldStage } from './held-stage.ts'
import { BEGINNING, type DraftChoice, draftChoices, draftOf, TXS } from './random-drafts.ts'

const CAMPAIGN = openCampaign('held-model')
const RUNS = CAMPAIGN.size
type Step =
  | Readonly<{ is: 'submit'; drafts: readonly DraftChoice[]; repeats: boolean }>
  | Readonly<{ is: 'settle'; txs: readonly (readonly [tx: number, word: 'final' | 'failed' | 'excess'])[] }>
  | Readonly<{ is: 'vouch' | 'drop'; pick: number }>
  | Readonly<{ is: 'release' | 'reopen' }>

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      is: fc.constant('submit' as const),
      drafts: fc.array(draftChoices, { minLength: 1, maxLength: 3 }),
      repeats: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      is: fc.constant('settle' as const),
      txs: fc.array(
        fc.tuple(fc.nat(TXS - 1), fc.constantFrom('final', 'final', 'final', 'failed', 'excess')),
        { minLength: 1, maxLength: 5 },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constantFrom('vouch', 'drop'), pick: fc.nat(50) }) },
  { weight: 2, arbitrary: fc.record({ is: fc.constantFrom('release', 'reopen') }) },
)

/** One run: a queue on a store, and the model. */
type Trial = Readonly<{
  stage: HeldStage
  model: HeldModel
  balances: BalancesSetting
  sent: Draft[]
  counts: Record<'published' | 'held' | 'refused' | 'waits' | 'rejected', number>
}>

async function submit({ stage, model, sent, counts }: Trial, drafts: readonly Draft[]): Promise<void> {
  const expected = model.submit(drafts)
  const outcome = await stage.queue().submit(drafts)
  const answer: ModelAnswer = outcome.ok
    ? outcome.receipts.map(({ status, seq }) => (seq === undefined ? status : `${status} ${seq}`))
    : `${outcome.faults?.[0]?.index ?? null} ${outcome.code}`
  assert.deepEqual(answer, expected)
  if (outcome.ok) sent.push(...drafts)
  else counts.rejected += 1
  for (const status of outcome.ok ? expected : []) if (status === 'held') counts.held += 1
}

async function take(trial: Trial, step: Step, number: number): Promise<void> {
  const { stage, model, sent } = trial
  const held = model.held
  switch (step.is) {
    case 'submit': {
      const drafts = step.drafts.flatMap(
        (choice, index) => draftOf(choice, `${number}-${index}`, model) ?? [],
      )
      const repeated = step.repeats ? sent.slice(-2) : []
      return submit(trial, [...repeated, ...drafts])
    }
    case 'settle': {
      const words = new Map(step.txs.map(([tx, word]) => [`transaction-${tx}`, word]))
      model.settle(words)
      const settled = [...words].map(([tx, is]) => ({ tx, is, place: 'slot 1', reason: 'as the chain said' }))
      const outcome = await stage.queue().held.settle(settled, CHAIN)
      return assert.ok(outcome.ok)
    }
    case 'vouch':
    case 'drop': {
      const ref = held[step.pick % Math.max(1, held.length)]?.draft.ref ?? 'nobody'
      model[step.is](ref)
      const outcome = await stage.queue().held[step.is]([ref], 'the operator said so')
      return assert.ok(outcome.ok)
    }
    case 'release':
      model.release()
      trial.counts.refused += model.refused().length
      await stage.queue().held.release([])
      assert.deepEqual(
        stage
          .queue()
          .held.list(0, 1_000)
          .flatMap(({ ref, chain, reason }) => (chain !== 'asked' && reason !== null ? [ref] : [])),
        model.refused(),
      )
      return
    case 'reopen':
      model.reopen()
      return stage.reopen({ balances: trial.balances })
  }
}

function assertEqual({ stage, model }: Trial): void {
  const lines = stage.lines().map((line) => shortOf(JSON.parse(line) as Draft))
  assert.deepEqual(
    lines,
    model.published.map(({ kots, ...rest }) => shortOf({ ...rest, kots })),
  )
  assert.deepEqual(
    stage
      .queue()
      .held.list(0, 1_000)
      .map(({ ref, chain }) => [ref, chain]),
    model.held.map((each) => [each.draft.ref, each.word]),
  )
}

/** Members that an event takes from its draft. */
function shortOf({
  type,
  kind,
  contestId,
  kots,
  tx,
}: Omit<Draft, 'kots'> & { kots: unknown }): readonly unknown[] {
  const amount = typeof kots === 'string' ? BigInt(kots.replace('.', '')) : kots
  return [type, kind, contestId, amount, tx]
}

async function runTrials(balances: BalancesSetting, runs: number): Promise<Trial['counts']> {
  const counts = { published: 0, held: 0, refused: 0, waits: 0, rejected: 0 }
  const property = fc.asyncProperty(
    fc.array(steps, { minLength: 30, maxLength: 90, size: 'max' }),
    async (run) => {
      using stage = openHeldStage({ balances })
      const trial: Trial = { stage, model: openHeldModel(balances), balances, sent: [], counts }
      await submit(trial, BEGINNING)
      const end: Step = { is: 'release' }
      for (const [number, step] of [...run, end].entries()) {
        await take(trial, step, number)
        assertEqual(trial)
      }
      const { published, held } = trial.model
      counts.published += published.length
      counts.waits += held.filter(({ word }) => word === 'none').length
      const isCorrected = published.some(({ type }) => type === 'correction')
      if (balances === 'refuse' && !isCorrected) assertCovered(published)
    },
  )
  // Shrinking 90 steps takes longer than a test may.
  await fc.assert(property, { numRuns: runs, endOnFailure: true, seed: CAMPAIGN.seedNumber })
  return counts
}

suite('a log with held drafts', () => {
  test('holds, publishes and refuses as the specification says, whatever is settled, dropped or restarted', async (t) => {
    const counts = await runTrials('refuse', RUNS)
    const floors = { published: RUNS * 10, held: RUNS, refused: 1, waits: 1, rejected: RUNS }
    CAMPAIGN.finish(t, counts, floors)
  })

  test('does so with --balances report too', async () => {
    const counts = await runTrials('report', RUNS / 2)
    assert.ok(counts.waits > 0)
  })
})
