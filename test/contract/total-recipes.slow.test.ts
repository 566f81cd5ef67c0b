import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, suite, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { parseAmount } from '../../src/protocol/amount.ts'
import type { Contests } from '../../src/protocol/endpoints/contest-endpoints.ts'
import type { EventsPage } from '../../src/protocol/endpoints/event-endpoints.ts'
import type { Summary } from '../../src/protocol/endpoints/figure-endpoints.ts'
import { fetchDescribed } from '../stage/described.ts'
import { blocksOf, textOf } from '../stage/document.ts'
import { ROOT, SAMPLE } from '../stage/places.ts'
import { type Service, startService } from '../stage/service.ts'
import { skipWithout } from '../processes/test-needs.ts'
import { publishTo } from '../stage/node-process.ts'

const moduleAt = (path: string): string => pathToFileURL(join(ROOT, path)).href
const CLIENT = moduleAt('src/client/index.ts')
const SUMS = moduleAt('src/client/event-sums.ts')
/** Imports and addresses of the documents, and those of this test. */
const REPLACED: readonly (readonly [string, string])[] = [
  ["'./src/client/index.ts'", `'${CLIENT}'`],
  ["'./src/client/event-sums.ts'", `'${SUMS}'`],
  ["'daybook-client'", `'${CLIENT}'`],
  ["'daybook-client/sums'", `'${SUMS}'`],
]
const ADDRESSES = ['http://127.0.0.1:8080', 'https://data.example.org']
/** Range of the example of the package, and one in the sample. */
const RANGE = ['2026-08-03', '2026-08-17'] as const

// `test/contract/analysts.slow.test.ts` runs the recipes of docs/analysts.md in the same way.
suite('every recipe for a total prints what /summary says', () => {
  let folder = ''
  let service: Service | undefined
  let summary: Summary

  const url = (): string => service?.url ?? ''
  async function ask<T>(path: string): Promise<T> {
    return (await (await fetchDescribed(`${url()}/api/v1${path}`)).json()) as T
  }

  /** Cancels the first prize, refund and loyalty payment of the sample that are not cancelled yet. */
  async function publishCorrections(): Promise<void> {
    const { events } = await ask<EventsPage>('/events?type=payout&limit=10000')
    const drafts: object[] = []
    for (const is of [
      (kind: string) => kind === 'refund',
      (kind: string) => kind === 'loyalty',
      (kind: string) => kind !== 'refund' && kind !== 'loyalty',
    ]) {
      const event = events.find(({ kind }) => is(kind))
      if (event === undefined) continue
      const { seq, contestId, kots } = event
      drafts.push({
        ref: `cancel-${seq}`,
        type: 'correction',
        kind: 'payout',
        ...(contestId === null ? {} : { contestId }),
        kots: `-${kots}`,
        details: { corrects: seq },
      })
    }
    assert.ok(drafts.length >= 2)
    const answer = await publishTo(service ?? assert.fail(), drafts)
    assert.equal(answer.status, 200, answer.code)
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'daybook-recipes-'))
    service = await startService({ drafts: SAMPLE })
    const all = await ask<Summary>('/summary')
    await publishCorrections()
    summary = await ask<Summary>('/summary')
    assert.notEqual(summary.paidInPrizes, all.paidInPrizes)
  })
  after(async () => {
    await service?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  /** First lines that the only block of a language with these words prints. Afterwards the program may run on. */
  async function linesOf(
    document: string,
    language: 'ts' | 'python',
    count: number,
    words = '',
  ): Promise<string[]> {
    const [block, ...others] = blocksOf(textOf(document)).filter(
      (one) => one.language === language && one.text.includes(words),
    )
    assert.ok(block !== undefined && others.length === 0, `${document} has one such recipe`)
    const named = REPLACED.reduce((text, [from, to]) => text.replace(from, to), block.text)
    const text = ADDRESSES.reduce((one, address) => one.replace(address, url()), named)
      .replaceAll('2026-10-01', RANGE[1])
      .replaceAll('2026-09-01', RANGE[0])
    const file = join(folder, `recipe.${language === 'ts' ? 'ts' : 'py'}`)
    await writeFile(file, text)
    const program = language === 'ts' ? process.execPath : 'python3'
    const child = spawn(program, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
    const lines: string[] = []
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line)
      if (lines.length === count) break
    }
    child.kill()
    return lines
  }

  test('in README.md', async () => {
    const { paidInPrizes } = summary
    assert.deepEqual(await linesOf('README.md', 'ts', 2), [paidInPrizes, paidInPrizes])
  })

  test('in docs/client.md', async () => {
    assert.deepEqual(await linesOf('docs/client.md', 'ts', 1, 'sumOf'), [summary.paidInPrizes])
  })

  test('in docs/client.md, and only the winners of contests that paid all are congratulated', async () => {
    const { events } = await ask<EventsPage>('/events?from=2026-08&type=contest&kind=paid')
    const { contests } = await ask<Contests>('/contests?outcome=paid')
    const wanted = events.flatMap(({ contestId }) => {
      const found = contests.find(({ id }) => id === contestId)
      return found === undefined
        ? []
        : [`Congratulations! ${found.title} has paid ${found.prizesRedeemed}, all that was won.`]
    })
    assert.ok(wanted.length > 0 && wanted.length < events.length)
    assert.deepEqual(await linesOf('docs/client.md', 'ts', wanted.length, 'Congratulations'), wanted)
  })

  test('in docs/client.md, and payouts are followed with titles and what a correction cancels', async () => {
    const { events, details = {} } = await ask<
      EventsPage & { details?: Record<string, { corrects?: number }> }
    >('/events?from=2026-08&type=payout,correction&details=1&limit=10000')
    const wanted = events.filter(({ type, kind }) => type === 'payout' || kind === 'payout')
    const { contests } = await ask<Contests>('/contests')
    const lines = await linesOf('docs/client.md', 'ts', wanted.length, 'titles')
    for (const [at, { seq, contestId }] of wanted.entries()) {
      const line = lines[at] ?? ''
      assert.ok(line.startsWith(`${seq} `), line)
      assert.ok(line.includes(contests.find(({ id }) => id === contestId)?.title ?? 'no contest'), line)
      const corrects = details[seq]?.corrects
      assert.equal(line.includes('cancels'), corrects !== undefined, line)
      if (corrects !== undefined) assert.ok(line.includes(`cancels ${corrects} `), line)
    }
    assert.ok(lines.some((line) => line.includes('cancels')))
  })

  test('in the README of the client’s package, of a range', async () => {
    const [from, to] = await Promise.all(
      RANGE.map((day) => ask<Summary>(`/summary?at=${Date.parse(`${day}T00:00:00Z`) - 1}`)),
    )
    const paid = (at: Summary | undefined): bigint => parseAmount(at?.paidInPrizes ?? '') ?? 0n
    const [whole, sum] = await linesOf('package/client/README.md', 'ts', 2)
    assert.equal(whole, (await ask<Summary>(`/summary?at=${RANGE[1]}`)).paidInPrizes)
    assert.equal(parseAmount(sum ?? ''), paid(to) - paid(from))
    assert.notEqual(paid(to), paid(from))
  })

  test('in docs/python.md', { skip: skipWithout('python3') }, async () => {
    assert.deepEqual(await linesOf('docs/python.md', 'python', 1), [summary.paidInPrizes])
  })

  test('in llms.txt, by its rule', async () => {
    const text = await (await fetch(`${url()}/llms.txt`)).text()
    const query = /request (type=\S+) with (details=1)/.exec(text.replaceAll(/\s+/g, ' '))
    assert.ok(query !== null, text)
    const { events, details = {} } = await ask<
      EventsPage & { details?: Record<string, { corrects?: number }> }
    >(`/events?${query[1]}&${query[2]}&limit=10000`)
    const kinds = new Map(events.map(({ seq, type, kind }) => [seq, type === 'payout' ? kind : undefined]))
    const paid = events.flatMap(({ seq, type, kind, kots }) => {
      const own = type === 'payout' ? kind : kinds.get(details[seq]?.corrects ?? 0)
      return own === undefined || own === 'refund' || own === 'loyalty' ? [] : [parseAmount(kots ?? '') ?? 0n]
    })
    const sum = paid.reduce<bigint>((one, other) => one + other, 0n)
    assert.equal(sum, parseAmount(summary.paidInPrizes))
  })
})
