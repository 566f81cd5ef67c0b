import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { run, type RunResult } from '../stage/command-stage.ts'
import { textOf } from '../stage/document.ts'
import { PUBLISH_TOKEN, type PublishStage, openPublishStage, trade } from '../stage/publish-stage.ts'

const TERMINAL = { columns: () => 120 } as const

const waiting = (index: number): object =>
  trade(`ref-${index}`, '1.5', { type: 'treasury', kind: 'deposit', tx: `transaction-000${index}` })

type Line = Readonly<Record<string, unknown>>
const linesOf = ({ stdout }: RunResult): readonly Line[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)

suite('daybook held', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-held-command-'))
  const token = join(folder, 'token')
  writeFileSync(token, `${PUBLISH_TOKEN}\n`)
  after(() => rmSync(folder, { recursive: true }))

  const held = (stage: PublishStage, words: readonly string[], context = {}): Promise<RunResult> =>
    run(['held', ...words, '--to', `http://127.0.0.1:${stage.port()}`, '--token-file', token], context)

  /** A publish API with two drafts that wait. */
  async function openWaiting(): Promise<PublishStage> {
    const stage = await openPublishStage('refuse', true)
    await stage.publish([waiting(1), waiting(2)])
    return stage
  }

  test('prints what waits as a table on a terminal', async () => {
    await using stage = await openWaiting()
    const { code, stdout } = await held(stage, [], TERMINAL)
    assert.equal(code, 0)
    const [names = '', first = ''] = stdout.split('\n')
    assert.match(names, /^ref +event +contest +amount +acceptedAt +waits +reason$/)
    assert.match(first, /^ref-1 +treasury\/deposit +– +1\.500000000 +2026-10-01T00:00:00\.000Z +chain +–$/)
  })

  test('prints what the servers of the chain said last as the reason', async () => {
    const said = [
      { server: 'URL 1 (a.example)', words: 'final in slot 17' },
      { server: 'URL 2 (b.example)', words: 'processed in slot 17; its slot is 20' },
    ]
    await using stage = await openPublishStage('refuse', true, (tx) => (tx.endsWith('2') ? said : null))
    await stage.publish([waiting(1), waiting(2)])
    const { stdout } = await held(stage, [], { columns: () => 300 })
    assert.match(stdout, /^ref-1 .* chain +–$/m)
    assert.match(
      stdout,
      /^ref-2 .* chain +URL 1 \(a\.example\): final in slot 17; URL 2 \(b\.example\): processed in slot 17; its slot is 20$/m,
    )
    assert.deepEqual(
      linesOf(await held(stage, ['list'])).map(({ lastMessages }) => lastMessages),
      [null, said],
    )
  })

  test('prints JSON lines in a pipe', async () => {
    await using stage = await openWaiting()
    const piped = await held(stage, ['list'])
    assert.deepEqual(
      linesOf(piped).map(({ ref, state, waitsFor }) => [ref, state, waitsFor]),
      [
        ['ref-1', 'waiting', 'chain'],
        ['ref-2', 'waiting', 'chain'],
      ],
    )
  })

  test('prints every page', async () => {
    await using stage = await openPublishStage('refuse', true)
    const many = Array.from({ length: 1_001 }, (_, index) => ({
      ...waiting(1),
      ref: `r${index}`,
      tx: `transaction-${String(index).padStart(4, '0')}`,
    }))
    await stage.publish(many)
    assert.equal(linesOf(await held(stage, [])).length, 1_001)
  })

  test('says that nothing is held on standard error alone', async () => {
    await using stage = await openPublishStage()
    assert.deepEqual(await held(stage, []), { code: 0, stdout: '', stderr: 'no draft is held\n' })
    const dropped = await held(stage, ['--state', 'dropped'])
    assert.deepEqual(dropped, { code: 0, stdout: '', stderr: 'no draft has the state dropped\n' })
  })

  test('vouch publishes drafts, and says with which seq', async () => {
    await using stage = await openWaiting()
    const { code, stdout } = await held(stage, ['vouch', 'ref-2', 'ref-1', '--reason', 'seen'], TERMINAL)
    assert.equal(code, 0)
    assert.match(stdout, /^ref-2 {2}published as seq \d\nref-1 {2}published as seq \d\n$/)
    assert.equal(stage.head(), 2)
  })

  test('drop gives drafts up, and list shows them with the reason', async () => {
    await using stage = await openWaiting()
    const { code, stdout } = await held(stage, ['drop', 'ref-1', '--reason', 'replaced'])
    assert.deepEqual([code, stdout], [0, '{"ref":"ref-1","status":"dropped","reason":"replaced"}\n'])
    const [dropped] = linesOf(await held(stage, ['--state', 'dropped']))
    assert.deepEqual([dropped?.['ref'], dropped?.['reason']], ['ref-1', 'replaced'])
  })

  test('ends with 1 when release leaves a draft held, or no draft has the ref', async () => {
    await using stage = await openWaiting()
    const words = ['release', 'ref-1', 'another', '--reason', 'books are right now']
    const { code, stdout, stderr } = await held(stage, words, TERMINAL)
    assert.equal(code, 1)
    assert.equal(stdout, 'ref-1  still held\nanother  no held draft has this ref\n')
    assert.equal(stderr, '2 of 2 drafts are not published\n')
    assert.equal(stage.head(), 0)
  })

  test('ends with 1 and one line when the publish API cannot be reached, or refuses the token', async () => {
    const closed = await run(['held', '--to', 'http://127.0.0.1:9', '--token-file', token])
    assert.deepEqual(closed, {
      code: 1,
      stdout: '',
      stderr: 'daybook: the publish API at 127.0.0.1:9 cannot be reached\n',
    })
    await using stage = await openWaiting()
    const wrong = join(folder, 'wrong')
    writeFileSync(wrong, `${'x'.repeat(40)}\n`)
    const refused = await run(['held', '--to', `http://127.0.0.1:${stage.port()}`, '--token-file', wrong])
    assert.deepEqual([refused.code, refused.stdout], [1, ''])
    assert.equal(refused.stderr, 'daybook: a valid token is required\n')
  })

  test('ends with 2 without a token file, a ref or a reason, and with an unknown state', async () => {
    for (const words of [
      ['held'],
      ['held', 'list'],
      ['held', '--token-file', token, '--state', 'gone'],
      ['held', 'drop', '--token-file', token, '--reason', 'x'],
      ['held', 'drop', 'ref-1', '--token-file', token],
      ['held', 'drop', 'ref-1', '--token-file', token, '--reason', ' '],
      ['held', 'forget', 'ref-1', '--token-file', token, '--reason', 'x'],
    ]) {
      assert.equal((await run(words)).code, 2, words.join(' '))
    }
  })

  test('has examples in its --help and in docs/finality.md that run', async () => {
    await using stage = await openPublishStage('refuse', true)
    await stage.publish([{ ...waiting(1), ref: 'payment-4711' }])
    const { stdout } = await run(['held', '--help'])
    const lines = [...`${stdout}\n${textOf('docs/finality.md')}`.matchAll(/^ *daybook (held .*)$/gm)]
    assert.equal(lines.length, 4)
    for (const [, line = ''] of lines.toReversed()) {
      const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
      const own = words
        .map((word) => (word === 'token' ? token : word))
        .filter((word, at) => word !== '--to' && words[at - 1] !== '--to')
      const { code, stderr } = await held(stage, own.slice(1))
      assert.equal(code, 0, `${line}: ${stderr}`)
    }
    assert.equal(stage.head(), 1)
  })

  test('is what publish points to, which names drafts that are never published and then ends with 1', async () => {
    await using stage = await openWaiting()
    await held(stage, ['drop', 'ref-1', '--reason', 'replaced'])
    const file = join(folder, 'drafts.jsonl')
    const drafts = [trade('ref-0'), waiting(1), waiting(2), waiting(3)]
    writeFileSync(file, drafts.map((draft) => `${JSON.stringify(draft)}\n`).join(''))
    const publishUrl = ['--to', `http://127.0.0.1:${stage.port()}`, '--token-file', token]
    const { code, stdout, stderr } = await run(['publish', file, ...publishUrl])
    assert.deepEqual(
      [code, stdout, stderr.split('\n')],
      [
        1,
        '1 published, 0 duplicates skipped, 2 held, 0 failed, 1 dropped\n',
        [
          'line 2: dropped; it will not be published',
          'held drafts wait until the chain has settled their transactions: daybook held --token-file FILE lists them',
          '',
        ],
      ],
    )
  })

  test('obeys no control character of an answer', async () => {
    await using stage = await openPublishStage('refuse', true)
    await stage.publish([waiting(1)])
    const { stdout } = await held(stage, ['drop', 'ref-1', '--reason', 'a\u202eb'], TERMINAL)
    assert.doesNotMatch(stdout, /\u202e/)
  })
})
