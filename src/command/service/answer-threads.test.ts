import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { openAppender } from '../../log/append.ts'
import { createStore, openForWriting, storePath } from '../../log/store/store.ts'
import { msOf } from '../../protocol/moment.ts'
import { testSigner } from '../../../test/story/signing.ts'
import type { AnswerJob } from '../../serve/request/answer-job.ts'
import { DEFAULT_SITE } from '../../web/markup/site.ts'
import { openAnswerThreads } from './answer-threads.ts'
import { openHeadCell } from '../../log/head-cell.ts'

const JOB: AnswerJob = {
  is: 'request',
  method: 'GET',
  route: '/api/v1/contests',
  path: '/api/v1/contests',
  target: '/api/v1/contests',
  segments: {},
  query: new Map(),
  ifNoneMatch: undefined,
  acceptEncoding: undefined,
  now: msOf(Date.UTC(2026, 10, 21)),
  latest: msOf(Date.UTC(2026, 10, 21)),
}

suite('answer threads', () => {
  const data = mkdtempSync(join(tmpdir(), 'daybook-answers-'))
  createStore(storePath(data), { origin: 'daybook.test/answers', chain: 'opaque', simulated: false })
  const db = openForWriting(storePath(data))
  openAppender(db, testSigner(db))
  after(() => {
    db.close()
    rmSync(data, { recursive: true })
  })
  const settings = {
    data,
    head: openHeadCell().buffer,
    site: DEFAULT_SITE,
    asksChain: false,
    mirror: null,
    following: null,
  }
  const scripts = (): Promise<never> => Promise.reject(new Error('no scripts are made here'))

  test('answer, report their processor time, and pass on the error of an answer', async () => {
    await using threads = openAnswerThreads(() => settings, { scripts })
    const { reply, head } = await threads.make(JOB)
    assert.ok(reply.is === 'coded' && reply.status === 200)
    assert.equal(head, 0)
    let tookMs = 0
    // A system may count the time of a thread in steps of ten milliseconds.
    for (let asked = 0; asked < 1_000 && tookMs === 0; asked += 1) tookMs += (await threads.make(JOB)).tookMs
    assert.ok(tookMs > 0)
    await assert.rejects(threads.make({ ...JOB, route: '/nowhere' }), /has no answer/)
    assert.ok((await threads.make(JOB)).reply.is === 'coded')
  })

  test('are replaced when one fails, and only its job is lost', async () => {
    const places = [join(data, 'missing'), data]
    const next = () => ({ ...settings, data: places.shift() ?? data })
    await using threads = openAnswerThreads(next, { scripts })
    await assert.rejects(threads.make(JOB), /a thread that makes answers failed/)
    assert.ok((await threads.make(JOB)).reply.is === 'coded')
  })

  test('end when an answer takes too long', async () => {
    await using threads = openAnswerThreads(() => settings, { scripts, answerMsMax: 1 })
    await assert.rejects(threads.make(JOB), /an answer took more than 1 ms/)
  })

  test('fail a page when its scripts cannot be made', async () => {
    await using threads = openAnswerThreads(() => settings, { scripts })
    await assert.rejects(
      threads.make({ ...JOB, route: '/contests', path: '/contests' }),
      /scripts of pages cannot be made/,
    )
  })
})
