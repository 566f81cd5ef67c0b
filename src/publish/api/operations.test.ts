import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  ALIVE,
  METRICS_MS_MAX,
  openOperations,
  type OperationsPath,
  READY_MS_MAX,
  readyToRead,
} from './operations.ts'
import { LATE } from '../thread-link.ts'

const SOUND = { store: true, serving: true, unanswered: [] }
const never = (): never => assert.fail('no other thread is asked')

suite('the operational endpoints', () => {
  test('say ready when readers can be served, and whether publishes are accepted', () => {
    for (const [readiness, accepting, status] of [
      [SOUND, true, 200],
      [SOUND, false, 200],
      [{ ...SOUND, store: false }, true, 503],
      [{ ...SOUND, serving: false }, true, 503],
    ] as const) {
      const answer = readyToRead(readiness, accepting)
      assert.equal(answer.status, status)
      const { store, serving } = readiness
      assert.deepEqual(JSON.parse(answer.body), {
        ready: status === 200,
        checks: { store, serving, accepting_publishes: accepting },
      })
    }
  })

  test('say ready for publishing by the writer alone', async () => {
    for (const accepting of [true, false]) {
      const answer = await openOperations({ accepting: () => accepting, ask: never })('/readyz?for=publish')
      assert.equal(answer?.status, accepting ? 200 : 503)
      assert.deepEqual(JSON.parse(answer?.body ?? ''), {
        ready: accepting,
        checks: { accepting_publishes: accepting },
      })
    }
  })

  test('refuse any other parameter of readiness, and name the valid one', async () => {
    const ask = openOperations({ accepting: () => true, ask: never })
    for (const query of ['', 'for=', 'for=readers', 'for=publish&for=publish', 'For=publish', 'verbose=1']) {
      const answer = await ask(`/readyz?${query}`)
      assert.equal(answer?.status, 400, query)
      assert.match(answer?.body ?? '', /\/readyz\?for=publish/)
    }
  })

  test('name the main thread when it does not answer in time', async () => {
    const limits: number[] = []
    const ask = openOperations({
      accepting: () => true,
      async ask(_, msMax) {
        limits.push(msMax)
        return LATE
      },
    })
    for (const path of ['/readyz', '/livez', '/metrics'] satisfies OperationsPath[]) {
      const answer = await ask(path)
      assert.equal(answer?.status, 503, path)
      assert.match(answer?.body ?? '', /main thread/)
    }
    assert.deepEqual(limits, [READY_MS_MAX, METRICS_MS_MAX, METRICS_MS_MAX])
  })

  test('are these three and no other', async () => {
    const ask = openOperations({ accepting: () => true, ask: async () => ALIVE })
    assert.equal((await ask('/livez'))?.status, 200)
    for (const path of ['/metrics/', '/metrics?x', '/livez?x', '/readyz/', '/'])
      assert.equal(await ask(path), undefined, path)
  })
})
