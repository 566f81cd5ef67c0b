import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { HOUR_MS, MINUTE_MS } from '../../../src/protocol/moment.ts'
import { formatVkey, verifierKey } from '../../../src/tlog/vkey.ts'
import type { BrowserPage } from '../../stage/browser.ts'
import type { PageStage } from '../../stage/page-stage.ts'
import { LAUNCH } from '../../story/api-story.ts'
import { TEST_KEY } from '../../story/signing.ts'
import { cosignedState, WITNESSES } from '../../story/witnesses.ts'
import { sha256, signedBy } from './checked-page.ts'

const ORIGIN = 'daybook.test/api'
/** Clock of the browser, and the time of the cosignatures three minutes before. */
export const NOW: number = LAUNCH + 6 * HOUR_MS
export const TIME_SECONDS: number = (NOW - 3 * MINUTE_MS) / 1_000
export const VKEYS: readonly string[] = WITNESSES.map(({ key }) => formatVkey(key))
export const TWO: typeof WITNESSES = WITNESSES.slice(0, 2)

/** A checkpoint with cosignatures, which are three minutes old. */
export function noteOf(...[checkpoint, settings]: Parameters<typeof cosignedState>): string {
  const { newest } = cosignedState(checkpoint, { timeSeconds: TIME_SECONDS, ...settings })
  assert.ok(newest !== null, 'two witnesses sign')
  return newest.note
}

/** The note without the cosignatures of some witnesses. */
function without(note: string, ...words: readonly string[]): string {
  const isLeft = (line: string): boolean =>
    !words.some((word) => line.startsWith(`\u2014 witness.example/${word} `))
  return note.split('\n').filter(isLeft).join('\n')
}

/** Opens a page whose clock stands still. */
export async function seeAt({ browser }: PageStage, url: string): Promise<BrowserPage> {
  const sight = await browser.see('about:blank')
  await sight.page.clock.setFixedTime(NOW)
  await sight.page.goto(url)
  return sight
}

/** Types keys and a quorum into the form. */
export async function give(page: Page, vkeys: readonly string[], quorum = ''): Promise<void> {
  await page.locator('textarea[name=witnesses]').fill(vkeys.join('\n'))
  await page.locator('input[name=quorum]').fill(quorum)
}

/** Text of the page about what it does not prove. */
export function limits(page: Page): Promise<string> {
  return page.locator('h2:has-text("does not prove") + ul').innerText()
}

/** Lets the service answer with a note of its own making. */
export async function serve(page: Page, note: string): Promise<void> {
  await page.unrouteAll()
  await page.route('**/log/checkpoint.witnessed', (route) => route.fulfill({ body: note }))
}

/** The first witness's key under another name. */
function renamed(): string {
  const [first] = WITNESSES
  assert.ok(first !== undefined)
  return formatVkey(verifierKey(sha256, 'other.example', first.key.type, first.key.publicKey))
}

/** A checkpoint of the same size with another root, which the log's key has signed too. */
function forked(checkpoint: string): string {
  const [, size, root = ''] = checkpoint.split('\n')
  const other = `${root.startsWith('AAAA') ? 'BBBB' : 'AAAA'}${root.slice(4)}`
  return signedBy(TEST_KEY, ORIGIN, `${ORIGIN}\n${size}\n${other}\n`)[0]
}

/** Keys that are refused, by a log with this key, and the words of the refusal. */
export const REFUSED_KEYS: readonly (readonly [
  what: string,
  vkeys: (logKey: string) => readonly string[],
  says: RegExp,
])[] = [
  ['a key of a log', (logKey) => [...VKEYS, logKey], /Key 4 .* is the key of a log/],
  ['a malformed key', () => [`${VKEYS[0]}A`], /Key 1 .* is no key of a witness/],
  ['one key under two names', () => [VKEYS[0] ?? '', renamed()], /same public key/],
  ['too many keys', () => Array<string>(17).fill(VKEYS[0] ?? ''), /at most 16/],
]

/** Notes in place of the witnessed checkpoint of a log with this checkpoint, and the words of the failure. */
export const WITNESS_LIES: readonly (readonly [
  what: string,
  note: (checkpoint: string) => string,
  says: RegExp,
])[] = [
  [
    'a forged cosignature',
    (late) => noteOf(late).replace(/(— witness.example\/two .{40})..../, '$1AAAA'),
    /two is forged/,
  ],
  [
    'a quorum of yesterday',
    (late) => noteOf(late, { timeSeconds: TIME_SECONDS - 86_400 }),
    /FROZEN: .* UTC, 1 day ago: /,
  ],
  [
    'a quorum of tomorrow',
    (late) => noteOf(late, { timeSeconds: TIME_SECONDS + 86_400 }),
    /ahead of the local clock/,
  ],
  [
    'one witness of two',
    (late) => without(noteOf(late), 'two', 'three'),
    /1 of 3 witnesses vouch for .*, and 2 are asked for/,
  ],
  ['another past', (late) => noteOf(forked(late)), /does not continue the one at the witnessed checkpoint/],
  [
    'a tree that the log did not sign',
    (late) => noteOf(late).replace(/(— daybook\S+ .{20})..../, '$1AAAA'),
    /known key does not hold/,
  ],
]
