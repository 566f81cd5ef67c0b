import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { run } from '../../../test/stage/command-stage.ts'
import {
  assertRefused,
  PUBLISH_TOKEN,
  lines,
  NDJSON,
  openPublishStage,
  trade,
} from '../../../test/stage/publish-stage.ts'

const burn = (ref: string, kots: string) => ({ ref, type: 'burn', kind: 'platform_income', kots })
const deposit = (ref: string, kots: string) => ({ ref, type: 'treasury', kind: 'deposit', kots })

suite('a refusal', () => {
  test('names every bad draft of a request, also those that only the books refuse', async () => {
    await using stage = await openPublishStage()
    const play = (ref: string, contestId: number) => ({
      ref,
      type: 'play',
      kind: 'entry',
      contestId,
      kots: '1',
    })
    const told = async (drafts: readonly unknown[], headers = {}) => {
      const { json } = await stage.publish('content-type' in headers ? lines(drafts) : drafts, headers)
      return json.errors?.map(({ draft, line, ref, code }) => [draft, line, ref, code])
    }
    await stage.publish([deposit('a', '5')])
    assert.deepEqual(await told([trade('b', 'x'), trade('c'), { ref: 'd' }, 7]), [
      [0, undefined, 'b', 'invalid-draft'],
      [2, undefined, 'd', 'invalid-draft'],
      [3, undefined, null, 'invalid-draft'],
    ])
    const drafts = [trade('b'), play('c', 1), deposit('a', '6'), play('d', 2)]
    assert.deepEqual(await told(drafts, NDJSON), [
      [1, 2, 'c', 'wrong-state'],
      [2, 3, 'a', 'ref-conflict'],
      [3, 4, 'd', 'wrong-state'],
    ])
    assert.equal(stage.head(), 1)
  })

  test('names no draft that the books refuse only because a bad one before it is missing', async () => {
    await using stage = await openPublishStage()
    await stage.publish([deposit('a', '5')])
    const contest = (ref: string, kind: string) => ({ ref, type: 'contest', kind, contestId: 1 })
    const drafts = [
      deposit('a', '50'),
      burn('b', '20'),
      contest('c', 'opened'),
      contest('d', 'closed'),
      { ref: 'e', type: 'correction', kind: 'burn', kots: '-20', details: { corrects: 3 } },
    ]
    const refused = await stage.publish(drafts)
    assertRefused(refused, 409, 'ref-conflict')
    assert.deepEqual(
      refused.json.errors?.map(({ ref, code }) => [ref, code]),
      [
        ['a', 'ref-conflict'],
        ['c', 'wrong-state'],
      ],
    )
    assert.match(refused.json.detail ?? '', /; `errors` names 2 bad drafts$/)
  })

  test('is printed by daybook publish with every bad line of its file', async () => {
    await using stage = await openPublishStage()
    const folder = mkdtempSync(join(tmpdir(), 'daybook-bad-drafts-'))
    const [file, token] = [join(folder, 'drafts.jsonl'), join(folder, 'token')]
    writeFileSync(token, `${PUBLISH_TOKEN}\n`)
    writeFileSync(file, `${lines([trade('a', 'x')])}\n\n${lines([trade('b'), { ref: 'c' }])}\n`)
    const to = `http://127.0.0.1:${stage.port()}`
    const { code, stderr } = await run(['publish', file, '--to', to, '--token-file', token])
    rmSync(folder, { recursive: true })
    assert.equal(code, 1)
    assert.match(stderr, /, line 1, kots: must be plain .*\n.*, line 4, type: must be one of .*\n$/)
  })
})
