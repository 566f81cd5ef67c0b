import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { MessageChannel, Worker } from 'node:worker_threads'
import { LATE, openThreadLink, transferring } from './thread-link.ts'

type Kinds = Readonly<{
  note(text: string): void
  double(value: number): Promise<number>
  memory(): Uint8Array<ArrayBuffer>
  never(): Promise<void>
}>

/** Runs the work with a link to another end, which keeps its notes. */
async function linked(
  work: (
    link: ReturnType<typeof openThreadLink<{ sent: Kinds; received: {} }>>,
    notes: string[],
  ) => Promise<void>,
) {
  const { port1, port2 } = new MessageChannel()
  const notes: string[] = []
  openThreadLink<{ sent: {}; received: Kinds }>(port2, {
    note: (text) => void notes.push(text),
    async double(value) {
      if (value < 0) throw new Error(`${value} is below zero`)
      return value * 2
    },
    memory() {
      const bytes = new Uint8Array([1, 2, 3])
      return transferring(bytes, [bytes.buffer])
    },
    never: () => new Promise(() => {}),
  })
  try {
    await work(openThreadLink<{ sent: Kinds; received: {} }>(port1, {}), notes)
  } finally {
    port1.close()
  }
}

suite('a link of two threads', () => {
  test('passes on what is sent, in order, and answers each question with its own answer or error', () =>
    linked(async (link, notes) => {
      link.send('note', 'a')
      link.send('note', 'b')
      assert.deepEqual(
        await Promise.all([link.ask('double', 2), link.askWithin(60_000, 'double', 3)]),
        [4, 6],
      )
      assert.deepEqual(notes, ['a', 'b'])
      await assert.rejects(link.ask('double', -1), /^Error: -1 is below zero$/)
      assert.deepEqual(await link.ask('memory'), new Uint8Array([1, 2, 3]))
    }))

  test('says that an answer is late after its limit', () =>
    linked(async (link) => {
      assert.equal(await link.askWithin(1, 'never'), LATE)
    }))

  test('rejects every open question when the other thread fails', () =>
    linked(async (link) => {
      const answers = [link.ask('never'), link.askWithin(60_000, 'never')]
      const settled = Promise.allSettled(answers)
      link.fail(new Error('it has failed'))
      assert.deepEqual(
        (await settled).map(({ status }) => status),
        ['rejected', 'rejected'],
      )
    }))

  test('does not call an answer late because the asker itself was held up', async () => {
    const worker = new Worker(
      `const { parentPort } = require('node:worker_threads')
       parentPort.on('message', ({ id }) => parentPort.postMessage({ is: 'answer', id, answer: 2 }))`,
      { eval: true },
    )
    const link = openThreadLink<{ sent: Kinds; received: {} }>(worker, {})
    assert.equal(await link.ask('double', 1), 2)
    const answer = link.askWithin(20, 'double', 1)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
    assert.equal(await answer, 2)
    await worker.terminate()
  })
})
