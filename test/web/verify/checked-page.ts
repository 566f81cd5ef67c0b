import assert from 'node:assert/strict'
import { createHash, sign } from 'node:crypto'
import type { Page, Route } from 'playwright-core'
import type { SigningKey } from '../../../src/log/tree/signer.ts'
import { formatNote } from '../../../src/tlog/note.ts'
import { signText } from '../../../src/tlog/signature.ts'
import { formatVkey, verifierKey } from '../../../src/tlog/vkey.ts'
import type { LogKeys } from '../../../src/protocol/status-resources.ts'
import type { ModelDraft } from '../../story/log-model.ts'
import type { ModelService } from '../../stage/model-service.ts'
import { OTHER_KEY, TEST_KEY } from '../../story/signing.ts'

/** Marks of a failed check. */
export const STOPPED = ['failed', 'not checked'] as const

/** Runs a check to its end and returns the marks of its steps. */
export async function check(page: Page, name: string): Promise<readonly string[]> {
  const form = page.locator(`form[data-check=${name}]`)
  await form.locator('button').click()
  await form.locator('button:not([disabled])').waitFor()
  await form.locator('ol:not([aria-busy]) li').first().waitFor()
  const marks = await form.locator('li b').allInnerTexts()
  return marks.map((mark) => mark.slice(2))
}

export const stepsOf = (page: Page, name: string): Promise<string> =>
  page.locator(`form[data-check=${name}] ol`).innerText()

/** First line of the form of a check. */
export const verdictOn = (page: Page, name: string): Promise<string> =>
  page.locator(`form[data-check=${name}] output`).innerText()

/** Answers like the service, with some answers changed. */
export const altered =
  (change: (body: Buffer) => Buffer) =>
  async (route: Route): Promise<void> => {
    const response = await route.fetch()
    await route.fulfill({ response, body: change(await response.body()) })
  }

export const replaced = (from: string | RegExp, to: string): ((route: Route) => Promise<void>) =>
  altered((body) => {
    const text = body.toString('utf8')
    assert.notEqual(text.replace(from, to), text)
    return Buffer.from(text.replace(from, to))
  })

export async function publish(service: ModelService, drafts: readonly ModelDraft[]): Promise<void> {
  const answer = await service.publish(drafts, false)
  assert.equal(answer.status, 200, await answer.text())
}

let published = 0

export const trade = (service: ModelService, count: number): Promise<void> =>
  publish(
    service,
    Array.from({ length: count }, () => ({ ref: `v-${++published}`, type: 'trade', kind: 'buy', kots: '1' })),
  )

export const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()

/** A text signed by this key under a name, and the entry of the key. */
export function signedBy(
  { privateKey, publicKey }: SigningKey,
  name: string,
  text: string,
): [note: string, vkey: string] {
  const key = verifierKey(sha256, name, 'ed25519', publicKey)
  const signature = signText(key, (message) => sign(null, message, privateKey), text)
  return [formatNote({ text, signatures: [signature] }), formatVkey(key)]
}

/**
 * Shows the present tree, signed with a key that is new since `from` events, and the old key as retired. Returns the new
 * key. `isVouched`: the old key has named it.
 */
export async function showNewKey(
  page: Page,
  service: ModelService,
  from: (size: number) => number,
  isVouched: boolean,
): Promise<string> {
  const [origin = '', size = '', root = ''] = (
    await (await service.get('/api/v1/log/checkpoint')).text()
  ).split('\n')
  const [note, vkey] = signedBy(OTHER_KEY, origin, `${origin}\n${size}\n${root}\n`)
  const fromSize = from(Number(size))
  const rotation = `daybook key rotation v1\n${origin}\n${fromSize}\n${vkey}\n`
  const statement = isVouched ? signedBy(TEST_KEY, origin, rotation)[0] : null
  const served = (await (await service.get('/api/v1/log/keys')).json()) as LogKeys
  const keys = [
    ...served.keys.map((key) => ({ ...key, state: 'retired', toSize: fromSize })),
    { vkey, state: 'signing', fromSize, toSize: null, statement },
  ]
  await page.route('**/log/checkpoint', (route) => route.fulfill({ body: note }))
  await page.route('**/log/keys', (route) => route.fulfill({ json: { ...served, keys } }))
  return vkey
}
