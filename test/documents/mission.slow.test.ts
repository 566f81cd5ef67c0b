import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { suite, test } from 'node:test'
import { promisify } from 'node:util'
import { openPretendChain } from '../../sim/chain/pretend-chain.ts'
import { openRpcServer } from '../../sim/chain/rpc-server.ts'
import { blocksOf, textOf } from '../stage/document.ts'
import { SAMPLE } from '../stage/places.ts'
import { startService } from '../stage/service.ts'
import { skipWithout } from '../processes/test-needs.ts'

const STATEMENTS = 67
const NEXT = '=== statement '

const mission = textOf('docs/mission.md')

/** Rows of the tables: number, statement, command, and texts that its output has. */
const rows = [...mission.matchAll(/^\| (\d+) \| (.+?) \| `(.+?)` \| (.+) \|$/gm)].map(
  ([, number = '', , command = '', shows = '']) => ({
    number: Number(number),
    command: command.replaceAll(String.raw`\|`, '|'),
    shows: [...shows.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text),
  }),
)

suite('docs/mission.md', () => {
  test('walks through all statements of the mission, each with a command and what it shows', () => {
    assert.deepEqual(
      rows.map(({ number }) => number),
      Array.from({ length: STATEMENTS }, (_, index) => index + 1),
    )
    for (const { number, shows } of rows) assert.ok(shows.length > 0, `statement ${number} shows something`)
  })

  test('shows for each command what its output has', { skip: skipWithout('curl', 'gunzip') }, async () => {
    // Each command has an address of its own, because together they pass the rate limit.
    const chain = openPretendChain({ kind: 'solana', seed: 'mission', now: Date.now })
    await using rpc = await openRpcServer({ chain })
    const options = ['--trust-proxy', '127.0.0.1/32', '--finality', `solana=${rpc.url}`]
    await using service = await startService({ drafts: SAMPLE, options })
    const [names] = blocksOf(mission).filter((block) => block.before === '<!-- run: names -->')
    const script = [
      'N=0; curl() { command curl -H "X-Forwarded-For: 198.51.100.$N" "$@"; }',
      names?.text.replace('http://127.0.0.1:8080', service.url),
      ...rows.map(({ number, command }) => `N=${number}; echo; echo '${NEXT}${number}'; ${command}`),
    ]
    const { stdout } = await promisify(execFile)('bash', ['-c', script.join('\n')], {
      maxBuffer: 64 * 1024 * 1024,
    })
    const outputs = new Map(
      stdout.split(`\n${NEXT}`).map((part) => {
        const end = part.indexOf('\n')
        return [Number(part.slice(0, end)), part.slice(end + 1)]
      }),
    )
    const missing = rows.flatMap(({ number, shows }) =>
      shows
        .filter((text) => outputs.get(number)?.includes(text) !== true)
        .map((text) => `${number}: ${text}\n${outputs.get(number)?.slice(0, 300)}`),
    )
    assert.deepEqual(missing, [])
  })
})
