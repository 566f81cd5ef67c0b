import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { textOf } from '../stage/document.ts'

/** Value of a constant, read from its source: these are private to their files. */
function constantOf(path: string, name: string): number {
  const [, value] =
    new RegExp(`^(?:export )?const ${name}(?:: number)? = ([\\d_.]+)$`, 'm').exec(textOf(path)) ?? []
  assert.ok(value !== undefined, `${path} has ${name}`)
  return Number(value.replaceAll('_', ''))
}

/** Sentences of documents with a constant of the code: the document, the sentence, and the number in it. */
const SENTENCES: readonly (readonly [
  path: string,
  words: (value: number) => string,
  file: string,
  name: string,
])[] = [
  [
    'docs/operating.md',
    (value) => `${value} for each further thread`,
    'src/command/service/connection-limit.ts',
    'FILES_OF_THREAD',
  ],
  [
    'docs/runbook/DaybookDiskWillFill.md',
    (value) => `an upgrade ${value} times as much`,
    'src/publish/upgrade/upgrade.ts',
    'GROWTH',
  ],
  [
    'docs/clusters.md',
    (value) => `PostgreSQL ends the session of a leader that is silent for ${value / 1000} seconds`,
    'src/cluster/table/log-table.ts',
    'SILENCE_MS_MAX',
  ],
  [
    'src/serve/describe/problem-cures.ts',
    (value) => `differ from the clock of the database by ${value / 1000} seconds`,
    'src/cluster/node/term.ts',
    'CLOCK_MS_MAX',
  ],
  [
    'docs/pages.md',
    (value) => `A list of \`/contests\` has ${value} rows`,
    'src/web/pages/contests/contests-page.ts',
    'ROWS_SHOWN',
  ],
  [
    'CONTRIBUTING.md',
    (value) => `${value === 30 ? 'Thirty' : '?'} quick files share a process`,
    'test/run-suites.ts',
    'FILES_PER_PROCESS',
  ],
  [
    'docs/mirrors.md',
    (value) => `from its beginning, ${value === 4 ? 'three' : '?'} times at most`,
    'src/mirror/months/month-download.ts',
    'FILE_ATTEMPTS_MAX',
  ],
  [
    'docs/threats.md',
    (value) => `${value === 16 ? 'sixteen' : '?'} requests wait`,
    'src/serve/fairness/request-queues.ts',
    'WAITING_OF_CONNECTION_MAX',
  ],
]

suite('a number of the code in a document', () => {
  for (const [path, words, file, name] of SENTENCES) {
    test(`is ${name} in ${path}`, () => {
      const text = textOf(path).replaceAll(/\s+/g, ' ')
      const sentence = words(constantOf(file, name))
      assert.ok(text.includes(sentence), sentence)
    })
  }
})
