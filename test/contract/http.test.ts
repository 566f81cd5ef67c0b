import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { conformParts, findDaybook } from '../../src/conform/conform.ts'
import type { ConformRun, SentenceVerdict } from '../../src/conform/part.ts'
import { openSender, type SentAnswer, type SentRequest } from '../../src/conform/sender.ts'
import { SURROUNDINGS } from '../../src/client/surroundings.ts'
import { assertDescribed } from '../stage/described.ts'
import { sharedSample } from '../sample/imported-node.ts'

suite('the public contract', () => {
  let run: ConformRun
  before(async () => {
    const base = new URL((await sharedSample()).url)
    const stop = new AbortController().signal
    const sender = openSender({ base, headers: {}, stop, ...SURROUNDINGS })
    run = { sender, log: (await findDaybook(sender)).log, onAnswer: assertAnswer }
  })

  for (const part of conformParts()) {
    suite(part.name, () => {
      let verdicts: readonly SentenceVerdict[] = []
      before(async () => {
        verdicts = await part.run(run)
      })
      for (const [index, sentence] of part.sentences.entries())
        test(sentence, () => assert.deepEqual(verdicts[index], { is: 'held' }))
    })
  }
})

/** Asserts that an answer has no field or header that the OpenAPI document does not describe. */
function assertAnswer({ method, target }: SentRequest, { code, headers, body }: SentAnswer): void {
  // The text of a compressed answer is not checked, because this client does not decompress.
  const isPlain = !headers.has('content-encoding')
  assertDescribed({
    method,
    target,
    status: code,
    headers,
    ...(isPlain ? { text: body.toString() } : {}),
  })
}
