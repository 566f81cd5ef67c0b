import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { readLines, startNode } from '../stage/node-process.ts'
import { run } from '../stage/command-stage.ts'
import { skipUnless } from '../stage/test-needs.ts'
import { keptSchemas, unpackKept } from '../books/kept-store.ts'
import { NATS_NEEDED, NATS_SERVER } from '../engine/nats-program.ts'
import { startNatsRig, until } from '../engine/nats-rig.ts'

const ready = { skip: skipUnless(NATS_SERVER !== undefined, NATS_NEEDED) }

suite('daybook cluster move', { timeout: 120_000, ...ready }, () => {
  let rig: Awaited<ReturnType<typeof startNatsRig>>
  const folder = mkdtempSync(join(tmpdir(), 'daybook-move-'))
  before(async () => {
    rig = await startNatsRig()
    await rig.make(1)
    writeFileSync(join(folder, 'running.seed'), rig.running, { mode: 0o600 })
  })
  after(async () => {
    await rig[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })
  const engine = (): readonly string[] => [
    '--log-store',
    `nats://${rig.brokers.map(({ url }) => url).join(',')}`,
    '--log-store-credentials',
    join(folder, 'running.seed'),
  ]

  test('puts a log on an engine, from which other writers join, and takes it off again', async () => {
    using kept = unpackKept(keptSchemas().at(-1) ?? 0)
    const move = (...words: readonly string[]): ReturnType<typeof run> =>
      run(['cluster', 'move', '--data', kept.data, ...engine(), ...words])

    const stopped = new AbortController()
    stopped.abort()
    const cut = await run(['cluster', 'move', '--data', kept.data, ...engine()], { stop: stopped.signal })
    assert.equal(cut.code, 1, cut.stderr)
    assert.match(cut.stderr, /stopped: the same command goes on/)

    const moved = await move()
    assert.equal(moved.code, 0, moved.stderr)
    const [, head = ''] = /on the engine up to seq (\d+), in \d+ messages/.exec(moved.stdout) ?? []
    assert.match((await move()).stderr, /this log is on an engine already/)
    await assert.rejects(
      run(['serve', '--data', kept.data]),
      /this log is on an engine: serve it with --log-store/,
    )

    const joining = join(folder, 'joining')
    mkdirSync(joining)
    copyFileSync(`${kept.data}.key`, `${joining}.key`)
    const start = (): ReturnType<typeof startNode> =>
      startNode(joining, [...engine(), '--node-name', 'second'], [], 'cluster')
    // It is killed while it joins.
    await (await start()).end('SIGKILL')
    const second = await start()
    try {
      await until('the node has joined', async () => {
        const lines = await readLines(second.url, Number(head) - 1).catch(() => [])
        return lines.length === 1
      })
      const back = await move('--back')
      assert.equal(back.code, 0, back.stderr)
      assert.match(back.stdout, new RegExp(`off the engine at seq ${head}:`))
      await until('the other writer takes no drafts', async () => {
        const answer = await fetch(`${second.door}/readyz?for=publish`)
        return answer.status === 503
      })
      const asked = await fetch(`${second.url}/api/v1/events/${head}`)
      assert.equal(asked.status, 200)
    } finally {
      await second.end('SIGTERM')
    }
    const checked = await run(['check', '--data', kept.data])
    assert.equal(checked.code, 0, checked.stderr)
    assert.match((await move('--back')).stderr, /this log is on no engine/)
    assert.match(
      (await move()).stderr,
      /the stream has more messages than this log|has another message at place/,
    )
  })
})
