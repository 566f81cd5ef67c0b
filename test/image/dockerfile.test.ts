import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { DockerfileParser } from 'dockerfile-ast'
import { validate } from 'dockerfile-utils'
import { SETTINGS, USER_ID, versionOf, VOLUME } from '../../package/image/facts.ts'
import { librariesLock } from '../../package/image/libraries.ts'
import { lockedRuntime } from '../../package/image/runtime.ts'
import { textOf } from '../stage/document.ts'

const TEXT = textOf('Dockerfile')
const INSTRUCTIONS = DockerfileParser.parse(TEXT).getInstructions()

/** Arguments of each instruction with this name, as one line. */
const argumentsOf = (name: string): readonly string[] =>
  INSTRUCTIONS.filter((one) => one.getKeyword() === name).map((one) =>
    one
      .getArguments()
      .map((word) => word.getValue())
      .join(' '),
  )

suite('the Dockerfile', () => {
  test('has no fault that its linter finds', () => {
    assert.deepEqual(
      validate(TEXT).map(({ message }) => message),
      [],
    )
  })

  test('builds with the pinned Node, on the Debian of the libraries', () => {
    const { version } = lockedRuntime('amd64')
    assert.equal(lockedRuntime('arm64').version, version)
    const [build, ...others] = argumentsOf('FROM')
    assert.equal(build, `node:${version}-${librariesLock().release} AS build`)
    assert.deepEqual(others, ['scratch'])
  })

  test('has the settings of the image that is built without a daemon', () => {
    const exposed = argumentsOf('EXPOSE').flatMap((ports) => ports.split(' '))
    const [healthcheck = ''] = argumentsOf('HEALTHCHECK')
    const seconds = (name: string): number => 1e9 * Number(new RegExp(`--${name}=(\\d+)s`).exec(TEXT)?.[1])
    const found = {
      User: argumentsOf('USER').join(),
      ExposedPorts: Object.fromEntries(exposed.map((port) => [`${port}/tcp`, {}])),
      Env: argumentsOf('ENV').flatMap((pairs) => pairs.split(' ')),
      Entrypoint: JSON.parse(argumentsOf('ENTRYPOINT').join()),
      Cmd: JSON.parse(argumentsOf('CMD').join()),
      Volumes: Object.fromEntries(argumentsOf('VOLUME').map((folder) => [folder, {}])),
      WorkingDir: argumentsOf('WORKDIR').at(-1),
      StopSignal: argumentsOf('STOPSIGNAL').join(),
      Healthcheck: {
        Test: ['CMD', ...JSON.parse(healthcheck.replace(/^.*CMD /, ''))],
        Interval: seconds('interval'),
        Timeout: seconds('timeout'),
        StartPeriod: seconds('start-period'),
      },
    }
    assert.deepEqual(found, SETTINGS)
  })

  test('gives the volume to the user of the image, and names the version', () => {
    assert.ok(argumentsOf('COPY').includes('/volume/ /'))
    assert.match(TEXT, new RegExp(`--chown=${USER_ID}:0 /volume/ /$`, 'm'))
    assert.match(TEXT, new RegExp(`mv /image/${VOLUME} /volume/${VOLUME}`))
    assert.match(TEXT, new RegExp(`image\\.version="${versionOf().replaceAll('.', '\\.')}"`))
  })

  test('leaves keys, stores and built files out of what it sends to the daemon', () => {
    const left = textOf('.dockerignore').trim().split('\n')
    for (const path of [
      '.git',
      'node_modules',
      'dist',
      'dist-*',
      '*.key',
      '.daybook-demo',
      'data',
      'secrets',
      'backups',
    ])
      assert.ok(left.includes(path), path)
  })
})
