import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Folder of the project. */
export const ROOT: string = join(import.meta.dirname, '..', '..')

/** Architecture of an image, as OCI and Debian name it. */
export type Architecture = 'amd64' | 'arm64'

/** User and group of the process, unless the operator names others. */
export const USER_ID = 65_532

/** Folder of the package in the image. */
export const PROGRAM_FOLDER = 'opt/daybook'

/** Folder of the volume. The signing key of `/data/log` is `/data/log.key`, so that the volume keeps both. */
export const VOLUME = 'data'

/** Settings of a container, in the words of OCI. */
type Settings = Readonly<{
  User: string
  ExposedPorts: Readonly<Record<string, object>>
  Env: readonly string[]
  Entrypoint: readonly string[]
  Cmd: readonly string[]
  Volumes: Readonly<Record<string, object>>
  WorkingDir: string
  StopSignal: string
  /** An extension of Docker. Durations are in nanoseconds. */
  Healthcheck: Readonly<{ Test: readonly string[] } & Record<'Interval' | 'Timeout' | 'StartPeriod', number>>
}>

/** Settings of a container. The Dockerfile says the same. */
export const SETTINGS: Settings = {
  User: `${USER_ID}:${USER_ID}`,
  ExposedPorts: { '8080/tcp': {}, '8081/tcp': {} },
  Env: [
    'PATH=/usr/local/bin',
    'NODE_ENV=production',
    'DAYBOOK_DATA=/data/log',
    'DAYBOOK_HOST=0.0.0.0',
    'DAYBOOK_PUBLISH_HOST=0.0.0.0',
  ],
  Entrypoint: ['/usr/local/bin/daybook'],
  Cmd: ['serve'],
  Volumes: { [`/${VOLUME}`]: {} },
  // SQLite writes its temporary files here, because no other folder can be written.
  WorkingDir: `/${VOLUME}`,
  StopSignal: 'SIGTERM',
  Healthcheck: {
    Test: ['CMD', '/usr/local/bin/daybook-ready'],
    Interval: 30e9,
    Timeout: 5e9,
    StartPeriod: 60e9,
  },
}

/** Version of the package. */
export function versionOf(): string {
  const { version } = Object(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')))
  return String(version)
}
