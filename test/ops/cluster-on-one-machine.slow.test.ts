import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, suite, test } from 'node:test'
import { promisify } from 'node:util'
import { hasPostgres } from '../database/postgres-server.ts'
import { freePorts } from '../processes/free-ports.ts'
import { blocksOf, textOf } from '../stage/document.ts'
import { MAIN } from '../stage/places.ts'
import { skipUnless, skipWithout } from '../processes/test-needs.ts'

const [, SECTION = ''] = textOf('docs/clusters.md').split('\n## Try it on one machine\n')
const [SET_UP = '', USE = ''] = blocksOf(SECTION.split('\n## ')[0] ?? '').map(({ text }) => text)
const PORTS = ['5441', '5442', '8080', '8081', '8090', '8091']
const SCRIPT_MS_MAX = 180_000

const run = promisify(execFile)

/** Both blocks, as a reader runs them one after the other. The first node serves on the default ports. */
function scriptOf(ports: readonly number[]): string {
  const own = SET_UP.replace('serve --data log-a &', 'serve --data log-a --port 8080 --publish-port 8081 &')
  const replaced = PORTS.reduce(
    (text, port, index) => text.replaceAll(port, String(ports[index])),
    `${own.replace('--development', '--development --port 8080 --publish-port 8081')}
until curl -sf http://127.0.0.1:8081/livez && curl -sf http://127.0.0.1:8091/livez; do sleep 0.2; done >/dev/null
${USE}`,
  )
  return `set -eum
trap 'kill $(jobs -p) || true; pg_ctl -D a -m immediate stop; pg_ctl -D b -m immediate stop' EXIT
${replaced}`
}

/** An ordinary user in place of root, as whom no server of PostgreSQL runs. */
function ordinaryUser(): Readonly<{ uid: number; gid: number }> | null {
  if (process.getuid?.() !== 0) return null
  const [uid = 0, gid = 0] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'nobody'])))
  return { uid, gid }
}

suite(
  'two nodes on one machine, by docs/clusters.md',
  { skip: skipUnless(hasPostgres, 'postgresql') || skipWithout('curl', 'timeout') },
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-pair-'))
    after(() => rmSync(folder, { recursive: true, force: true }))

    test('publish a draft each, the second one after the end of the first node', async () => {
      const user = ordinaryUser()
      const bin = join(folder, 'bin')
      mkdirSync(bin)
      writeFileSync(join(bin, 'daybook'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`)
      for (const path of [folder, bin, join(bin, 'daybook')]) chmodSync(path, 0o755)
      if (user !== null) chownSync(folder, user.uid, user.gid)
      const { stdout } = await run('bash', ['-c', scriptOf(await freePorts(PORTS.length))], {
        ...user,
        cwd: folder,
        env: { PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`, HOME: folder },
        timeout: SCRIPT_MS_MAX,
      })
      // The next output is on the same line.
      const seqs = [...stdout.matchAll(/"seq":(\d+),"type"/g)].map(([, seq]) => Number(seq))
      assert.deepEqual(seqs, [1, 2])
    })
  },
)
