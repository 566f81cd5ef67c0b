import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { LAUNCH } from '../../../test/story/api-story.ts'
import { heldDraft, PRIVATE, endedDraft } from '../../../test/story/held-story.ts'
import { plain } from '../../../test/web/parity/page-tree.ts'
import { MINUTE_MS, msOf } from '../../protocol/moment.ts'
import type { Finality, Status } from '../../protocol/endpoints/description-endpoints.ts'
import { seqOf } from '../../protocol/seq.ts'

const NONE: Finality = {
  asked: false,
  held: 0,
  oldestAt: null,
  oldestAtMs: null,
  refused: 0,
  failed: 0,
  dropped: 0,
  vouched: 0,
}
const LATER = msOf(LAUNCH + MINUTE_MS)

async function finalityOf(stage: ApiStage): Promise<Finality> {
  const status = (await (await stage.get('/api/v1/status')).json()) as Status
  return status.finality
}

suite('/status', () => {
  test('says that the operator vouches, and that nothing waits', async () => {
    await using stage = await openApiStage()
    assert.deepEqual(await finalityOf(stage), NONE)
  })

  test('counts what waits, what is refused, and when the oldest was accepted', async () => {
    await using stage = await openApiStage({ asksChain: true })
    stage.held((tables) => {
      tables.add(heldDraft(1, LAUNCH))
      tables.add(heldDraft(2, LATER))
      tables.add(heldDraft(3, LATER, { chain: 'final', reason: 'private reason' }))
    })
    const oldest = { oldestAt: new Date(LAUNCH).toISOString(), oldestAtMs: LAUNCH }
    assert.deepEqual(await finalityOf(stage), { ...NONE, asked: true, held: 3, ...oldest, refused: 1 })
    stage.held((tables) => tables.remove(1))
    const next = { oldestAt: new Date(LATER).toISOString(), oldestAtMs: LATER }
    assert.deepEqual(await finalityOf(stage), { ...NONE, asked: true, held: 2, ...next, refused: 1 })
    stage.held((tables) => tables.change(heldDraft(3, LATER, { chain: 'final', reason: null })))
    assert.deepEqual(await finalityOf(stage), { ...NONE, asked: true, held: 2, ...next })
  })

  test('counts what failed, was dropped, and was published by the operator’s word', async () => {
    await using stage = await openApiStage({ asksChain: true })
    stage.held((tables) => {
      tables.end(endedDraft(1, LAUNCH, 'failed'))
      tables.end(endedDraft(2, LAUNCH, 'failed'))
      tables.end(endedDraft(3, LAUNCH, 'dropped'))
      tables.vouch(seqOf(1), PRIVATE.reason, LAUNCH)
    })
    assert.deepEqual(await finalityOf(stage), { ...NONE, asked: true, failed: 2, dropped: 1, vouched: 1 })
  })

  test('has another ETag when what waits changes without an event, and the same one otherwise', async () => {
    await using stage = await openApiStage({ asksChain: true })
    const etag = async (): Promise<string> => (await stage.get('/api/v1/status')).headers.get('etag') ?? ''
    const first = await etag()
    assert.equal(await etag(), first)
    assert.equal((await stage.get('/api/v1/status', { 'If-None-Match': first })).status, 304)
    stage.held((tables) => tables.add(heldDraft(1, LAUNCH)))
    const second = await etag()
    assert.notEqual(second, first)
    assert.equal((await stage.get('/api/v1/status', { 'If-None-Match': first })).status, 200)
    stage.held((tables) => tables.vouch(seqOf(1), PRIVATE.reason, LAUNCH))
    assert.notEqual(await etag(), second)
  })

  test('has another ETag on a node that asks the blockchain', async () => {
    await using asking = await openApiStage({ asksChain: true })
    await using vouching = await openApiStage()
    const [one, other] = [await asking.get('/api/v1/status'), await vouching.get('/api/v1/status')]
    const ending = ({ headers }: Response): string => (headers.get('etag') ?? '').split('-').at(-1) ?? ''
    assert.notEqual(ending(one), ending(other))
  })
})

/** Words of a page. */
async function wordsOf(stage: ApiStage, path: string): Promise<string> {
  const text = await (await stage.get(path)).text()
  return plain(text.replaceAll(/<[^>]*>/g, '')).replaceAll(/\s+/g, ' ')
}

suite('the page of /status', () => {
  test('says in words how many payments wait, since when, and who decides', async () => {
    await using stage = await openApiStage({ asksChain: true })
    const before = await wordsOf(stage, '/status')
    assert.match(
      before,
      /This service publishes a payment when the blockchain says that it is final\. None waits now\./,
    )
    stage.held((tables) => {
      tables.add(heldDraft(1, LAUNCH))
      tables.add(heldDraft(2, LATER))
    })
    const after = await wordsOf(stage, '/status')
    assert.match(
      after,
      /2 payments wait for the blockchain, with the events that depend on them, the oldest since/,
    )
  })

  test('says that the operator vouches where the blockchain is not asked', async () => {
    await using stage = await openApiStage()
    const text = await wordsOf(stage, '/status')
    assert.match(text, /This service does not ask the blockchain: the operator vouches/)
  })

  test('has the counts in its CSV', async () => {
    await using stage = await openApiStage({ asksChain: true })
    stage.held((tables) => tables.add(heldDraft(1, LAUNCH)))
    const [names = '', values = ''] = (await (await stage.get('/status.csv')).text()).split('\r\n')
    const row = new Map(names.split(',').map((name, index) => [name, values.split(',')[index]]))
    assert.equal(row.get('finality.held'), '1')
    assert.equal(row.get('finality.asked'), 'true')
    assert.equal(row.get('finality.oldestAtMs'), String(LAUNCH))
  })
})
