import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../../test/stage/api-stage.ts'
import { cosignedState, cosignNewest, ML_DSA_WITNESS, WITNESSES } from '../../../../test/story/witnesses.ts'
import { assertParity, sourcesOf } from '../../../../test/web/parity/parity.ts'
import { forgetWitnessed, keepWitnessed } from '../../../log/witnessed/witnessed-file.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

const pageAt = async (path: string): Promise<string> => (await stage.get(path)).text()

/** Words of a page about witnesses, after a comparison of all its figures with the answers that it links. */
async function wordsAt(path: string): Promise<string> {
  const page = await pageAt(path)
  const sources = sourcesOf(page)
  assertParity(page, await Promise.all(sources.map(async (source) => (await stage.get(source)).text())))
  const text = page
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ (?=[.,])/g, '')
  return /(?:\d+ of \d+ witness|No quorum).*?(?:UTC|\. | \d+:\d+|yet)/.exec(text)?.[0] ?? ''
}

suite('the pages of a log', () => {
  test('without witnesses do not mention them', async () => {
    forgetWitnessed(stage.data)
    for (const path of ['/status', '/events/3']) assert.doesNotMatch(await pageAt(path), /witness/i)
  })

  test('with too few cosignatures say that no quorum vouches yet', async () => {
    const checkpoint = await pageAt('/api/v1/log/checkpoint')
    keepWitnessed(stage.data, cosignedState(checkpoint, { by: WITNESSES.slice(0, 1) }))
    assert.equal(await wordsAt('/status'), 'No quorum vouches yet')
    assert.doesNotMatch(await pageAt('/events/3'), /witness/i)
  })

  test('say how many witnesses vouch, for how many events and since when; a name with two keys is one', async () => {
    const size = stage.reader.head().seq
    const checkpoint = await pageAt('/api/v1/log/checkpoint')
    const keys = [...WITNESSES, ML_DSA_WITNESS]
    const by = [...WITNESSES.slice(0, 2), ML_DSA_WITNESS]
    keepWitnessed(stage.data, cosignedState(checkpoint, { keys, by, timeSeconds: 1_791_000_000 }))
    stage.trade(2)
    const said = `2 of 3 witnesses vouch for ${size} of ${size + 2} events, as of`
    assert.ok((await wordsAt('/status')).startsWith(said), await wordsAt('/status'))
  })

  test('link the witnessed proof of an event that it covers, and of no other', async () => {
    const size = stage.reader.head().seq - 2
    assert.equal(
      await wordsAt(`/events/${size}`),
      '2 of 3 witnesses vouch for it: save the proof that they have signed. ',
    )
    const page = await pageAt(`/events/${size}`)
    assert.ok(page.includes(`href="/api/v1/log/proof/${size}?checkpoint=witnessed"`))
    assert.equal((await stage.get(`/api/v1/log/proof/${size}?checkpoint=witnessed`)).status, 200)
    assert.doesNotMatch(await pageAt(`/events/${size + 1}`), /checkpoint=witnessed/)
  })

  test('show a newer checkpoint as soon as it is witnessed', async () => {
    const newest = stage.reader.head().seq
    await cosignNewest(stage)
    assert.ok(
      (await wordsAt('/status')).startsWith(`3 of 3 witnesses vouch for ${newest} of ${newest} events`),
    )
    assert.match(await pageAt(`/events/${newest}`), /checkpoint=witnessed/)
  })
})
