import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openClient } from '../../../test/stage/stream-client.ts'
import { openStage } from '../../../test/stage/stream-stage.ts'
import { seqOf } from '../../protocol/seq.ts'
import { streamLimits } from './limits.ts'
import { openFeedPages } from './feed-pages.ts'

// The stage repeats ten events: the first has a plan and the last has a price.
const hasDetails = (seq: number): boolean => seq % 10 < 2

suite('a stream with details=1', () => {
  test('has a details message without id just before each event that has details, in history and live', async () => {
    await using stage = await openStage()
    stage.publish(400)
    using client = await openClient(stage.port, { path: '?after=0&details=1' })
    await client.until(() => client.seqs().length === 400)
    stage.publish(30)
    await client.until(() => client.seqs().length === 430)
    const messages = client.messages().filter(({ data, event }) => data !== undefined && event !== 'position')
    let at = 0
    for (let seq = 1; seq <= 430; seq += 1) {
      if (hasDetails(seq)) {
        const stored = stage.reader.snapshot((snapshot) => snapshot.detailsLine(seqOf(seq)))
        assert.deepEqual({ ...messages[at] }, { event: 'details', data: stored })
        at += 1
      }
      assert.deepEqual({ ...messages[at] }, { id: String(seq), data: stage.line(seq) })
      at += 1
    }
    assert.equal(at, messages.length)
  })

  test('as JSON lines has the details line just before the line of its event', async () => {
    await using stage = await openStage()
    stage.publish(30)
    const headers = ['Accept: application/x-ndjson']
    using client = await openClient(stage.port, { path: '?after=0&details=1', headers })
    await client.until(() => client.seqs().length === 30)
    const lines = client.body().split('\n')
    for (let seq = 1; seq <= 30; seq += 1) {
      const at = lines.indexOf(stage.line(seq))
      assert.equal(lines[at - 1]?.startsWith(`{"seq":${seq},"details":{`), hasDetails(seq), `${seq}`)
    }
  })

  test('gives the details of the next event after a resume at any seq', async () => {
    await using stage = await openStage()
    stage.publish(25)
    for (let after = 0; after < 25; after += 1) {
      using client = await openClient(stage.port, {
        path: '?after=0&details=1',
        headers: [`Last-Event-ID: ${after}`],
      })
      await client.until(() => client.seqs().at(-1) === 25)
      const first = client.messages().find(({ data, event }) => data !== undefined && event !== 'position')
      assert.equal(first?.event === 'details', hasDetails(after + 1), `after ${after}`)
    }
  })

  test('has no details message without the parameter, or for events that its filter drops', async () => {
    await using stage = await openStage()
    stage.publish(50)
    for (const path of ['?after=0', '?after=0&details=1&type=trade']) {
      using client = await openClient(stage.port, { path })
      await client.until(() => client.positions().some(({ live }) => live))
      assert.ok(!client.messages().some(({ event }) => event === 'details'))
    }
  })

  test('never writes a page of more bytes than one write, and shares pages apart from those without details', async () => {
    await using stage = await openStage()
    stage.publish(400)
    const limits = streamLimits({ writeBytesMax: 32_768, pageEventsMax: 80 })
    const pages = openFeedPages(stage.reader, limits)
    const all = { types: ['price', 'contest'] as const, kinds: null, contestIds: null, nonzero: false }
    const [plain, detailed] = [pages.feed(all, 'sse', false), pages.feed(all, 'sse', true)]
    for (let after = seqOf(0); after < 400;) {
      const page = detailed.page(after, 1_000)
      assert.ok((page.packet?.chunk.byteLength ?? 0) <= limits.writeBytesMax)
      after = page.scannedTo
    }
    assert.ok(!String(plain.page(seqOf(0), 1_000).packet?.bare).includes('event: details'))
    assert.ok(String(detailed.page(seqOf(0), 1_000).packet?.bare).startsWith('event: details'))
  })
})
