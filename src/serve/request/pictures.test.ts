import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { etagOf } from '../http/etag.ts'
import type { Reply } from '../http/route.ts'
import { CALLER_PICTURES_WAITING_MAX, openPictures, PICTURES_WAITING_MAX } from './pictures.ts'
import type { RequestJob } from './answer-job.ts'

const JOB = { ifNoneMatch: undefined } as RequestJob

const replyOf = (svg: string): Reply => ({
  is: 'coded',
  picture: true,
  keep: 'revalidate',
  etag: etagOf(svg),
  status: 200,
  type: 'image/png',
  body: Buffer.from(svg),
  coding: null,
  codable: false,
  compressible: false,
  rows: 0,
})

type Stage = Readonly<{
  pictures: ReturnType<typeof openPictures>
  /** SVGs in the order in which their drawing began. */
  drawn: readonly string[]
  ask(caller: string, svg: string, gone?: () => boolean): Promise<Reply>
  /** Ends the drawing in progress. */
  end(): Promise<void>
}>

function openStage(bytesMax?: number): Stage {
  const drawn: string[] = []
  let finish: () => void = () => undefined
  const pictures = openPictures({
    draw(svg) {
      const text = Buffer.from(svg).toString()
      drawn.push(text)
      return new Promise((resolve, reject) => {
        finish = () =>
          text === 'broken'
            ? reject(new Error(text))
            : resolve({ value: Buffer.from(`png of ${text}`), tookMs: 25 })
      })
    },
    monotonicMs: () => 0,
    ...(bytesMax === undefined ? {} : { bytesMax }),
  })
  return {
    pictures,
    drawn,
    ask: (caller, svg, gone) => pictures.finish(caller, JOB, replyOf(svg), gone),
    async end() {
      finish()
      await setImmediate()
    },
  }
}

const textOf = (reply: Reply): string => ('body' in reply ? Buffer.from(reply.body).toString() : reply.is)
const codeOf = (reply: Reply): string => (reply.is === 'problem' ? reply.problem.code : reply.is)

suite('pictures', () => {
  test('are drawn once for all who ask for equal ones, and cached by their content', async () => {
    const { ask, end, drawn } = openStage()
    const asked = [ask('a', 'one'), ask('b', 'one'), ask('a', 'one')]
    await end()
    await end()
    for (const reply of await Promise.all(asked)) assert.equal(textOf(reply), 'png of one')
    const again = await ask('c', 'one')
    assert.equal(textOf(again), 'png of one')
    assert.deepEqual(drawn, ['one'])
    // A drawn picture counts as ten requests, a cached one as one.
    const rows = [...(await Promise.all(asked)), again].map((one) => ('rows' in one ? one.rows : null))
    assert.deepEqual([rows[0], rows[3]], [9_000, 0])
  })

  test('other replies, and those that the caller has, are left as they are', async () => {
    const { pictures, drawn } = openStage()
    const page: Reply = { is: 'redirect', status: 303, location: '/' }
    assert.equal(await pictures.finish('a', JOB, page), page)
    const held = replyOf('one')
    const question: RequestJob = { ...JOB, ifNoneMatch: etagOf('one') }
    assert.equal(await pictures.finish('a', question, held), held)
    assert.deepEqual(drawn, [])
  })

  test('of one caller wait up to a bound, and more are refused with a time to retry', async () => {
    const { ask } = openStage()
    for (let one = 0; one < CALLER_PICTURES_WAITING_MAX; one++) void ask('a', `a${one}`)
    const refused = await ask('a', 'more')
    assert.equal(codeOf(refused), 'picture-capacity')
    assert.ok(refused.is === 'problem' && refused.problem.retryAfterSeconds === 2)
  })

  test('of all callers wait up to a bound', async () => {
    const { ask, pictures } = openStage()
    for (let one = 0; one <= PICTURES_WAITING_MAX; one++) void ask(`caller ${one}`, `${one}`)
    assert.equal(pictures.waiting(), PICTURES_WAITING_MAX)
    assert.equal(codeOf(await ask('late', 'more')), 'picture-capacity')
  })

  test('of a caller that asks for one come before the queue of a caller that asks for many', async () => {
    const { ask, end, drawn } = openStage()
    for (const one of ['a1', 'a2', 'a3', 'a4']) void ask('a', one)
    await end()
    void ask('b', 'b1')
    await end()
    await end()
    assert.ok(drawn.indexOf('b1') <= 2, drawn.join())
  })

  test('of a caller that has left are not drawn', async () => {
    const { ask, end, drawn } = openStage()
    void ask('a', 'one')
    const left = ask('a', 'two', () => true)
    await end()
    assert.equal((await left).is, 'streamed')
    assert.deepEqual(drawn, ['one'])
  })

  test('that fail are not cached, and free their place', async () => {
    const { ask, end, drawn } = openStage()
    const failed = ask('a', 'broken')
    const next = ask('a', 'one')
    const rejected = assert.rejects(failed, /broken/)
    await end()
    await rejected
    await end()
    assert.equal(textOf(await next), 'png of one')
    void ask('a', 'broken')
    assert.deepEqual(drawn, ['broken', 'one', 'broken'])
  })

  test('are cached up to a number of bytes', async () => {
    const { ask, end, drawn } = openStage('png of one'.length * 2)
    for (const svg of ['one', 'two', 'six', 'one']) {
      const asked = ask('a', svg)
      await end()
      await asked
    }
    assert.deepEqual(drawn, ['one', 'two', 'six', 'one'])
  })
})
