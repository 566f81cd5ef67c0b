import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { msOf } from '../src/protocol/moment.ts'
import { type PublishDraft, refOf } from './import-draft.ts'
import { openPatientPublish, type SendResult } from './patient-publish.ts'

const draftOf = (number: number): PublishDraft => ({
  ref: refOf(number),
  type: 'play',
  kind: 'vote',
  contestId: 1 + (number % 2),
  kots: '1',
})
const refused = (mayPass: boolean): SendResult => ({ refused: 'the treasury holds 0', mayPass })

/** Publishes drafts 1 to `count` through a publish API that answers by the refs of a request. */
async function published(
  count: number,
  answer: (refs: string, turn: number, waitedMs: number) => SendResult,
) {
  let now = 0
  const seen = { sent: [] as string[], skipped: [] as string[] }
  const api = {
    async send(drafts: readonly PublishDraft[]) {
      const refs = drafts.map(({ ref }) => Number(ref.slice(4))).join(' ')
      return answer(refs, seen.sent.push(refs), now)
    },
    now: () => msOf(now),
    until: async (moment: number) => void (now = moment),
    skip: (draft: PublishDraft, reason: string) =>
      void seen.skipped.push(`${Number(draft.ref.slice(4))}: ${reason}`),
  }
  const drafts = Array.from({ length: count }, (_, index) => draftOf(index + 1))
  await openPatientPublish(api, new AbortController().signal)(drafts)
  return { ...seen, waitedMs: now }
}

suite('the simulator', () => {
  test('sends a request again while the publish API accepts nothing', async () => {
    const { sent, waitedMs } = await published(2, (_, turn) => (turn < 3 ? 'later' : 'accepted'))
    assert.deepEqual(sent, ['1 2', '1 2', '1 2'])
    assert.equal(waitedMs, 10_000)
  })

  test('skips the refused draft of a request, and keeps the order', async () => {
    const { sent, skipped, waitedMs } = await published(3, (refs) =>
      refs.includes('2') ? refused(false) : 'accepted',
    )
    assert.deepEqual(sent, ['1 2 3', '1', '2', '3'])
    assert.deepEqual(skipped, ['2: the treasury holds 0'])
    assert.equal(waitedMs, 0)
  })

  test('waits with a draft whose refusal may pass when held drafts are published', async () => {
    const { sent, skipped } = await published(2, (refs, _, waitedMs) =>
      refs.includes('1') && waitedMs < 12_000 ? refused(true) : 'accepted',
    )
    assert.equal(sent.at(-1), '2')
    assert.deepEqual(skipped, [])
  })

  test('gives up a draft whose refusal does not pass within half a minute', async () => {
    const { skipped, waitedMs } = await published(1, () => refused(true))
    assert.deepEqual(skipped, ['1: the treasury holds 0'])
    assert.equal(waitedMs, 30_000)
  })

  test('waits so once for each contest', async () => {
    const { skipped, waitedMs } = await published(6, () => refused(true))
    assert.equal(skipped.length, 6)
    assert.equal(waitedMs, 60_000)
  })
})
