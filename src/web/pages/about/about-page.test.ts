import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openApiStage } from '../../../../test/stage/api-stage.ts'
import { plain } from '../../../../test/web/page-tree.ts'

test('/about says that unlock dates, review holds and finality are not enforced', async () => {
  await using stage = await openApiStage()
  const text = plain(await (await stage.get('/about')).text()).replaceAll(/\s+/g, ' ')
  assert.equal(text.split('This service shows it, and does not refuse an earlier payment.').length, 3)
  assert.match(text, /The operator vouches that an event is true, and that its transaction was final/)
  assert.match(text, /This service does not ask the blockchain\./)
  assert.doesNotMatch(text, /cannot be paid|published once its transaction is final/)
})
