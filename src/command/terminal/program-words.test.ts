import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { programWords } from './program-words.ts'

suite('the words that start the program', () => {
  const npmCommand = undefined
  const own = '/srv/reader/project/node_modules/daybook/dist/src/main.js'
  for (const [name, start, words] of [
    ['in a clone', { file: '/clone/src/main.ts', cwd: '/clone' }, 'npm run -s daybook --'],
    ['of a clone, elsewhere', { file: '/clone/src/main.ts', cwd: '/srv/reader' }, 'node /clone/src/main.ts'],
    ['in a project', { file: own, cwd: '/srv/reader/project' }, 'npx daybook'],
    ['in a folder of a project', { file: own, cwd: '/srv/reader/project/deep' }, 'npx daybook'],
    ['beside a project', { file: own, cwd: '/srv/reader/project-2' }, 'daybook'],
    [
      'installed for everyone',
      { file: '/usr/lib/node_modules/daybook/dist/src/main.js', cwd: '/srv/reader' },
      'daybook',
    ],
  ] as const) {
    test(`are, ${name}: ${words}`, () => {
      assert.equal(programWords({ ...start, npmCommand }), words)
    })
  }

  test('are npx where npx started it', () => {
    const file = '/srv/cache/_npx/1f/node_modules/daybook/dist/src/main.js'
    assert.equal(programWords({ file, cwd: '/srv', npmCommand: 'exec' }), 'npx daybook')
  })
})
