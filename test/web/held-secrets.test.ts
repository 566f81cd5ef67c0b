import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ENDPOINTS } from '../../src/protocol/endpoints/endpoints.ts'
import { openApiStage } from '../stage/api-stage.ts'
import { LAUNCH } from '../story/api-story.ts'
import { heldDraft, PRIVATE, endedDraft } from '../story/held-story.ts'
import { ADDRESSES } from './parity/web-addresses.ts'

/** Words of the drafts below, and their amount, that no public answer may hold. */
const SECRETS: readonly string[] = [...Object.values(PRIVATE), 'private_kind', '17.170017017', '17.17']

const SEGMENTS: Readonly<Record<string, string>> = {
  seq: '1',
  id: '1',
  type: 'payout',
  file: '2026-10.jsonl.gz',
  L: '0',
  N: '000',
}

/** An address of each endpoint that ends by itself. */
const ENDPOINT_ADDRESSES = ENDPOINTS.filter(({ id }) => id !== 'stream').map(({ path }) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => SEGMENTS[name] ?? '1'),
)

/** Questions that name a held draft's own words. */
const ASKED = [
  `/api/v1/events?tx=${PRIVATE.tx}`,
  `/events?tx=${PRIVATE.tx}`,
  `/tx/${PRIVATE.tx}`,
  `/api/v1/events?kind=private_kind`,
  `/api/v1/contests?q=private`,
  `/held`,
  `/held?limit=1000`,
  `/api/v1/held`,
  `/held/release`,
  `/held/${PRIVATE.ref}-1`,
  `/api/v1/events?ref=${PRIVATE.ref}-1`,
]

suite('of held drafts', () => {
  test('no public answer has a ref, a transaction, a reason, a place, a kind or an amount', async () => {
    await using stage = await openApiStage({ asksChain: true })
    stage.held((tables) => {
      tables.add(heldDraft(1, LAUNCH))
      tables.add(heldDraft(2, LAUNCH, { chain: 'final', place: PRIVATE.place, reason: PRIVATE.reason }))
      tables.end(endedDraft(3, LAUNCH, 'failed'))
      tables.end(endedDraft(4, LAUNCH, 'dropped'))
    })
    for (const path of new Set([
      ...ADDRESSES,
      ...ENDPOINT_ADDRESSES,
      ...ASKED,
      '/status.csv',
      '/feed.atom',
    ])) {
      const answer = await stage.get(path)
      const text = (await answer.text()) + JSON.stringify([...answer.headers])
      // A question may be repeated in a link to its own next page or format.
      const said = path.includes('private') ? text.replaceAll(/(?:tx|kind|q)=[\w-]+|\/tx\/[\w-]+/g, '') : text
      for (const secret of SECRETS) {
        assert.ok(!said.includes(secret) || ADDED.has(`${path} ${secret}`), `${path} has ${secret}`)
      }
    }
  })

  test('a question by the transaction of one is answered like a question by any other', async () => {
    await using stage = await openApiStage({ asksChain: true })
    stage.held((tables) => tables.add(heldDraft(1, LAUNCH)))
    const unknown = 'unknown-transaction-0001'
    for (const path of ['/api/v1/events?tx=', '/events?tx=', '/tx/', '/find?q=']) {
      const [held, other] = [await stage.get(`${path}${PRIVATE.tx}`), await stage.get(`${path}${unknown}`)]
      assert.equal(held.status, other.status, path)
      const [ofHeld, ofOther] = [await held.text(), await other.text()]
      assert.equal(ofHeld.replaceAll(PRIVATE.tx, '*'), ofOther.replaceAll(unknown, '*'), path)
    }
  })
})

/** Pages that show the form of a search filled in with what was asked. */
const ADDED: ReadonlySet<string> = new Set([`/events?tx=${PRIVATE.tx} ${PRIVATE.tx}`])
