import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { openHeldModel } from '../../../test/held/held-model.ts'
import { BEGINNING, type DraftChoice, draftChoices, draftOf, TXS } from '../../../test/held/random-drafts.ts'
import { assertSameTables, type BookNodes, openBookNodes } from '../../../test/cluster/book/book-nodes.ts'
import { randomLogs } from '../../../test/story/random-log.ts'
import type { Draft } from '../../protocol/draft.ts'
import type { Entry } from '../../protocol/event.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, msOf } from '../../protocol/moment.ts'

const CAMPAIGN = process.env['DAYBOOK_CAMPAIGN']
const RUNS = Number(CAMPAIGN ?? 3)
/** The runs of every commit are the same. A campaign (`DAYBOOK_CAMPAIGN=3000`) draws a seed, which a failure prints. */
const SEED = CAMPAIGN === undefined ? { seed: 20_261_123 } : {}

type Step = Readonly<{ gapMs: number }> &
  Readonly<
    | { is: 'submit'; requests: readonly (readonly DraftChoice[])[] }
    | { is: 'settle'; txs: readonly (readonly [tx: number, word: 'final' | 'failed' | 'excess'])[] }
    | { is: 'vouch' | 'drop'; pick: number }
    | { is: 'release' | 'restart' | 'switch' | 'lose' }
    | { is: 'catchUp'; most: number; batch: number; restarts: boolean }
  >

const gapMs = fc.constantFrom(0, 0, 1, MINUTE_MS, HOUR_MS, DAY_MS, 9 * DAY_MS, 40 * DAY_MS)
const drafts = fc.array(draftChoices, { minLength: 1, maxLength: 3 })
const words = fc.tuple(fc.nat(TXS - 1), fc.constantFrom('final', 'final', 'final', 'failed', 'excess'))

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      is: fc.constant('submit' as const),
      requests: fc.array(drafts, { minLength: 1, maxLength: 3 }),
      gapMs,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      is: fc.constant('settle' as const),
      txs: fc.array(words, { minLength: 1, maxLength: 5 }),
      gapMs,
    }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constantFrom('vouch', 'drop'), pick: fc.nat(50), gapMs }) },
  { weight: 3, arbitrary: fc.record({ is: fc.constantFrom('release', 'restart', 'switch', 'lose'), gapMs }) },
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constant('catchUp' as const),
      most: fc.integer({ min: 1, max: 20 }),
      batch: fc.constantFrom(1, 3, 256),
      restarts: fc.boolean(),
      gapMs,
    }),
  },
)

/** Two nodes of which one writes, and one that lags. */
const LAGGING = 2

/** Runs the steps. The nodes that do not write apply each row, except the lagging one. */
async function runSteps(
  cluster: BookNodes,
  run: readonly Step[],
  pass: (gapMs: number) => void,
): Promise<void> {
  const model = openHeldModel('refuse')
  let writer = 0
  const queue = () => cluster.node(writer).queue()
  const submit = async (sent: readonly Draft[]): Promise<void> => {
    model.submit(sent)
    await queue().submit(sent)
  }
  await submit(BEGINNING)
  for (const [number, step] of run.entries()) {
    pass(step.gapMs)
    switch (step.is) {
      case 'submit':
        await Promise.all(
          step.requests.map((choices, request) =>
            submit(
              choices.flatMap(
                (choice, index) => draftOf(choice, `${number}-${request}-${index}`, model) ?? [],
              ),
            ),
          ),
        )
        break
      case 'settle':
        model.settle(new Map(step.txs.map(([tx, word]) => [`transaction-${tx}`, word])))
        await queue().held.settle(
          step.txs.map(([tx, is]) => ({
            tx: `transaction-${tx}`,
            is,
            place: `slot ${tx}`,
            reason: 'the chain said so',
          })),
          'chain',
        )
        break
      case 'vouch':
      case 'drop': {
        const ref = model.held[step.pick % Math.max(1, model.held.length)]?.draft.ref ?? 'nobody'
        model[step.is](ref)
        await queue().held[step.is]([ref], 'the operator said so')
        break
      }
      case 'release':
        model.release()
        await queue().held.release([])
        break
      case 'restart':
        model.reopen()
        await cluster.node(writer).endWriting()
        cluster.node(writer).restart()
        break
      case 'switch':
        model.reopen()
        await cluster.node(writer).endWriting()
        cluster.follow(1 - writer, undefined, 1)
        writer = 1 - writer
        break
      case 'lose':
        cluster.node(writer).lose()
        break
      case 'catchUp':
        cluster.follow(LAGGING, step.most, step.batch)
        if (step.restarts) cluster.node(LAGGING).restart()
        break
    }
    cluster.follow(1 - writer, undefined, 1)
  }
  await cluster.node(writer).endWriting()
}

suite('the books of several nodes', () => {
  test('have the same rows in every table, whoever wrote, applied in batches, restarted or lost a race', async () => {
    let months = 0
    let held = 0
    const property = fc.asyncProperty(
      fc.array(steps, { minLength: 10, maxLength: 60, size: 'max' }),
      async (run) => {
        let nowMs = Date.UTC(2026, 0, 30, 23, 50)
        const now = () => msOf(nowMs)
        using cluster = openBookNodes({ nodes: 3, asksChain: true, balances: 'refuse', now })
        await runSteps(cluster, run, (gap) => (nowMs += gap))
        for (const index of cluster.nodes.keys()) cluster.follow(index)
        const [first] = cluster.nodes
        for (const { db } of cluster.nodes.slice(1)) assertSameTables(first?.db() as never, db())
        months += Number(
          first?.db().prepare('SELECT count(*) AS n FROM months WHERE closed = 1').get()?.['n'],
        )
        held += Number(first?.db().prepare('SELECT version FROM held_counts').get()?.['version'])
      },
    )
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true, ...SEED })
    assert.ok(months > RUNS && held > RUNS, `${months} months, ${held} changes of held drafts`)
  })

  test('have them with --balances report, for events of every type with corrections', async () => {
    const property = fc.asyncProperty(
      randomLogs,
      fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
      async (entries, sizes) => {
        let nowMs = 0
        using cluster = openBookNodes({
          nodes: 2,
          asksChain: false,
          balances: 'report',
          now: () => msOf(nowMs),
        })
        for (let at = 0, index = 0; at < entries.length; index += 1) {
          const size = sizes[index % sizes.length] ?? 1
          const sent = entries.slice(at, at + size)
          nowMs = sent[0]?.event.atMs ?? nowMs
          await cluster
            .node(0)
            .queue()
            .submit(sent.map((entry, place) => draftOfEntry(entry, `${at + place}`)))
          if (index % 3 === 0) cluster.follow(1)
          at += size
        }
        cluster.follow(1)
        assertSameTables(cluster.node(0).db(), cluster.node(1).db())
      },
    )
    await fc.assert(property, { numRuns: RUNS, ...SEED })
  })
})

function draftOfEntry({ event, details }: Entry, ref: string): Draft {
  const { type, kind, contestId, kots, tx } = event
  return { ref, atMs: null, type, kind, contestId, kots, tx, details }
}
