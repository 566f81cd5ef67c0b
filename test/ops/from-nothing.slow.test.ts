import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { after, before, suite, test } from 'node:test'
import { type Block, blocksOf, textOf } from '../stage/document.ts'
import { SAMPLE } from '../stage/places.ts'
import { skipUnless, skipWithout } from '../processes/test-needs.ts'
import { type Machine, openMachine } from './machine.ts'

const SITE = 'data.example.org'
const SAMPLE_EVENTS = 2_187
const PROGRAMS = [
  'bwrap',
  'strace',
  'systemd-analyze',
  'nginx',
  'openssl',
  'curl',
  'runuser',
  'setpriv',
] as const

const stepsOf = (path: string): readonly Block[] =>
  blocksOf(textOf(path)).filter(({ before: line }) => line === '<!-- run: machine -->')
const steps = stepsOf('docs/operating.md')
const SHOW_VKEY = `runuser -u daybook -- daybook keygen --show /etc/daybook/signing-key --origin ${SITE}/book`

/** Script that runs the steps, and then what a reader and the operator do. */
function scriptOf(): string {
  const told = steps.map(({ text }, index) => `printf '\\n=== ${index}\\n'\n${text}`)
  return [
    'nginx',
    ...told,
    String.raw`printf '\n=== status\n'`,
    `curl -s --cacert /etc/ssl/${SITE}.pem https://${SITE}/api/v1/status`,
    String.raw`printf '\n=== end\n'`,
    'systemctl stop daybook',
    'stat -c "%a %U %n" /var/lib/daybook /var/lib/daybook/log/* /var/lib/daybook/backups/*',
  ].join('\n')
}

/** Holds that a unit has made no system call and no socket but those that it allows. */
function assertAllowed(machine: Machine, unit: string): void {
  const families =
    /^RestrictAddressFamilies=(.*)$/m.exec(textOf(`ops/systemd/${unit}`))?.[1]?.split(' ') ?? []
  const traced = readFileSync(machine.at(`trace/${unit}`), 'utf8').matchAll(/^\d+ +(\w+)\((\w*)/gm)
  const others = [...traced].filter(
    ([, call, family = '']) => call !== 'socket' || !families.includes(family),
  )
  assert.deepEqual(
    others.map(([line]) => line),
    [],
    unit,
  )
}

const isRoot = process.getuid?.() === 0

suite(
  'the steps from nothing to a public service',
  { skip: skipUnless(isRoot, 'root') || skipWithout(...PROGRAMS) },
  () => {
    let machine: Machine
    /** Output of each step. */
    let printed: readonly string[] = []
    before(async () => {
      machine = openMachine(SITE)
      const [pem, key] = [machine.at(`etc/ssl/${SITE}.pem`), machine.at(`etc/ssl/${SITE}.key`)]
      const curve = [
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-out',
        pem,
        '-keyout',
        key,
      ]
      const names = ['-subj', `/CN=${SITE}`, '-addext', `subjectAltName=DNS:${SITE}`]
      execFileSync('openssl', ['req', '-x509', ...curve, ...names], { stdio: 'ignore' })
      mkdirSync(machine.at('var/tmp'))
      copyFileSync(SAMPLE, machine.at('var/tmp/history.jsonl'))
      const script = `export NODE_EXTRA_CA_CERTS=/etc/ssl/${SITE}.pem\n${scriptOf()}`
      const { stdout } = await machine.run(script)
      printed = stdout.split(/\n=== \w+\n/).slice(1)
    })
    after(() => machine?.[Symbol.dispose]())

    const printedBy = (words: string): string => {
      const index = steps.findIndex(({ text }) => text.includes(words))
      return printed[index] ?? ''
    }

    test('make a key for the log of the site, load its history and serve it', () => {
      assert.match(printedBy('keygen'), /^data\.example\.org\/book\+[0-9a-f]{8}\+/)
      assert.match(printedBy('/readyz'), /"ready":true/)
      assert.match(printedBy('publish-token'), /^\S{32,}\n$/)
      const status = JSON.parse(printed.at(-2) ?? '') as { origin: string; head: { seq: number } }
      assert.deepEqual([status.origin, status.head.seq], [`${SITE}/book`, SAMPLE_EVENTS])
    })

    test('end with a doctor who has nothing to say', () => {
      const report = printedBy('doctor')
      assert.match(report, /^ok +checkpoint/m)
      assert.doesNotMatch(report, /^(?:warn|wrong)/m)
    })

    test('leave files that no other user may read', () => {
      const lines = (printed.at(-1) ?? '').trim().split('\n')
      assert.ok(lines.length > 5, 'the files are found')
      for (const line of lines) assert.match(line, /^[67]00 daybook /, line)
      assert.match(printedBy('daybook-backup'), /\.db\n/)
    })

    test('start units that need no system call and no socket but those that they allow', () => {
      for (const unit of ['daybook.service', 'daybook-backup.service']) {
        assertAllowed(machine, unit)
      }
    })
  },
)

suite(
  'the steps of a witness',
  { skip: skipUnless(isRoot, 'root') || skipWithout('bwrap', 'strace', 'curl', 'runuser', 'setpriv') },
  () => {
    test('start a witness whose files no other user may read', async () => {
      using machine = openMachine(SITE)
      const own = stepsOf('docs/witnesses.md').map(({ text }) => text.replace('cat vkey', SHOW_VKEY))
      const [makeUser, makeKey] = steps.map(({ text }) => text)
      const look = 'systemctl stop daybook-witness\nstat -c "%a %U" /var/lib/daybook-witness/* | sort -u'
      const { stdout } = await machine.run([makeUser, makeKey, ...own, look].join('\n'))
      assert.match(stdout, /"ready":true.*\n?600 daybook-witness\n700 daybook-witness\n$/)
      assertAllowed(machine, 'daybook-witness.service')
    })
  },
)
