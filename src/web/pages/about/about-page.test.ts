import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../../test/stage/api-stage.ts'
import { LAUNCH } from '../../../../test/story/api-story.ts'
import { PRIVATE } from '../../../../test/story/held-story.ts'
import { plain } from '../../../../test/web/parity/page-tree.ts'
import { seqOf } from '../../../protocol/seq.ts'

async function textOf(stage: ApiStage): Promise<string> {
  const page = await (await stage.get('/about')).text()
  return plain(page.replaceAll(/<[^>]*>/g, '')).replaceAll(/\s+/g, ' ')
}

test('/about says that unlock dates, review holds and finality are not enforced', async () => {
  await using stage = await openApiStage()
  const text = await textOf(stage)
  assert.equal(text.split('This service shows the moment, and does not refuse an earlier payment.').length, 3)
  assert.match(text, /The operator vouches that an event is true, and that its transaction was final/)
  assert.match(text, /This service does not ask the blockchain\./)
  assert.doesNotMatch(text, /cannot be paid|published once its transaction is final|operator’s word/)
})

test('/about says that the blockchain is asked, which events it was not asked about, and how many were vouched for', async () => {
  await using stage = await openApiStage({ asksChain: true })
  const text = await textOf(stage)
  assert.match(text, /This service asks the blockchain about every transaction that the operator names/)
  assert.match(text, /It did not ask about imported events/)
  assert.match(text, /0 events were published on the operator’s word instead of the blockchain’s/)
  assert.doesNotMatch(text, /does not ask the blockchain/)
  stage.held((tables) => tables.vouch(seqOf(1), PRIVATE.reason, LAUNCH))
  assert.match(await textOf(stage), /1 event was published on the operator’s word/)
})

test('/about counts vouched events also when the blockchain is no longer asked', async () => {
  await using stage = await openApiStage()
  stage.held((tables) => tables.vouch(seqOf(1), PRIVATE.reason, LAUNCH))
  const text = await textOf(stage)
  assert.match(text, /This service does not ask the blockchain\./)
  assert.match(text, /1 event was published on the operator’s word after waiting for the blockchain’s/)
})
