import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../stage/places.ts'
import { pathOf } from '../stage/test-needs.ts'

/** Folder in which `.ci/run` unpacks a newer package, beside what npm installs. */
const UNPACKED = join(ROOT, 'node_modules', '.cache', 'nats-server', '*', 'usr', 'sbin', 'nats-server')
const VERSION_MIN = [2, 12] as const

/** Path of a nats-server that is new enough; undefined without one. */
export const NATS_SERVER: string | undefined = [pathOf('nats-server'), ...globSync(UNPACKED)].find(
  (path) => path !== undefined && isNewEnough(path),
)

/** Name of the program, for a test that is skipped without it. */
export const NATS_NEEDED: string = `nats-server ${VERSION_MIN.join('.')} or newer`

function isNewEnough(path: string): boolean {
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
  const [, major = '0', minor = '0'] = /v(\d+)\.(\d+)/.exec(stdout ?? '') ?? []
  return (
    Number(major) > VERSION_MIN[0] || (Number(major) === VERSION_MIN[0] && Number(minor) >= VERSION_MIN[1])
  )
}
