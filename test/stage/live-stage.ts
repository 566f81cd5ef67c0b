import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { type Browser, openBrowser } from './browser.ts'
import type { ModelDraft } from '../story/log-model.ts'
import { type ModelService, openModelService } from './model-service.ts'
import { openRelay, type Relay } from './relay.ts'

const NOW_MS = Date.UTC(2026, 4, 20)

/** A service, a relay to it, and a browser. */
export type LiveStage = AsyncDisposable &
  Readonly<{
    service: ModelService
    relay: Relay
    browser: Browser
    /** Number of published events. */
    published(): number
    /** Publishes `count` trades. */
    publish(count: number): Promise<void>
    /** Publishes something for every page: a contest, its pool, two prizes, and a payout of one. */
    change(): Promise<void>
    /** Publishes one event. */
    append(draft: Omit<ModelDraft, 'ref'>): Promise<void>
  }>

export async function openLiveStage(): Promise<LiveStage> {
  const service = await openModelService(NOW_MS)
  const relay = await openRelay(() => `http://127.0.0.1:${service.port()}`)
  const browser = await openBrowser()
  let published = 0
  let contests = 0

  async function publishAll(drafts: readonly Omit<ModelDraft, 'ref'>[]): Promise<void> {
    const named = drafts.map((draft) => {
      const ref = `live-${++published}`
      return { ...draft, ref }
    })
    const answer = await service.publish(named, false)
    assert.equal(answer.status, 200, await answer.text())
  }
  const publish = (count: number): Promise<void> =>
    publishAll(Array.from({ length: count }, () => ({ type: 'trade', kind: 'buy', kots: '1.5' })))
  async function change(): Promise<void> {
    const contestId = (contests += 1)
    const opensAt = '2026-05-20T00:00:00.000Z'
    const plan = { title: `Contest ${contestId}`, opensAt, closesAt: '2026-06-20T00:00:00.000Z' }
    await publishAll([
      { type: 'treasury', kind: 'deposit', kots: '50' },
      { type: 'contest', kind: 'scheduled', contestId, details: plan },
      { type: 'contest', kind: 'opened', contestId },
      { type: 'play', kind: 'entry', contestId, kots: '20.25' },
      { type: 'pool', kind: 'top_up', contestId, kots: '30' },
      { type: 'contest', kind: 'closed', contestId },
      { type: 'prize', kind: 'winner', contestId, kots: '10' },
      { type: 'prize', kind: 'voter_share', contestId, kots: '5' },
      { type: 'payout', kind: 'winner', contestId, kots: '4', tx: `transaction-of-${contestId}` },
    ])
  }
  await publish(150)
  await change()
  return {
    service,
    relay,
    browser,
    published: () => published,
    publish,
    change,
    append: (draft) => publishAll([draft]),
    async [Symbol.asyncDispose]() {
      await browser[Symbol.asyncDispose]()
      await relay[Symbol.asyncDispose]()
      await service[Symbol.asyncDispose]()
    },
  }
}

/** The list of newest events of a page. */
export const list = '[data-live-rows]'
/** Its first row. */
const firstRow = `${list} > :first-child`

const seqOf = (href: string | null): number => Number(/^\/events\/(\d+)$/.exec(href ?? '')?.[1])

/** Seqs of the rows of the list, from top to bottom. */
export async function seqsOf(page: Page): Promise<readonly number[]> {
  const links = await page.locator(`${list} a.seq`).all()
  return (await Promise.all(links.map((link) => link.getAttribute('href')))).map(seqOf)
}

/** Waits until the first row of the list is event `seq`. */
export const shows = (page: Page, seq: number): Promise<void> =>
  page.locator(`${firstRow} a.seq[href="/events/${seq}"]`).waitFor()

/** Waits until the page says that it counts up to event `seq`. */
export const countsUpTo = (page: Page, seq: number): Promise<void> =>
  explains(page, `This page counts up to event ${seq}.`)

/** Waits until the word of the live page is `words`. */
export const says = (page: Page, words: string | RegExp): Promise<void> =>
  page.locator('#live span', { hasText: words }).waitFor()

/** Waits until the live page explains its word with `words`, which are shown on demand. */
export const explains = (page: Page, words: string | RegExp): Promise<void> =>
  page.locator('#live p', { hasText: words }).waitFor({ state: 'attached' })
