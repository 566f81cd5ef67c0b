import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { everyCommand, programOf } from '../stage/command-stage.ts'
import { textOf } from '../stage/document.ts'
import { ROOT } from '../stage/places.ts'

const DOCUMENT = 'docs/commands.md'

const PAGES = ['docs', 'docs/runbook'].flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
)
const program = await programOf({}, () => undefined)
const document = textOf(DOCUMENT)
const sections = new Map(
  document
    .split(/^## /m)
    .slice(1)
    .map((section) => [/^`(.+?)`/.exec(section)?.[1] ?? '', section]),
)
suite('the document of the commands', () => {
  test('has one section for each command', () => {
    const names = program.commands.map((command) => command.name())
    assert.deepEqual([...sections.keys()].toSorted(), names.toSorted())
  })

  test('lists the commands in the groups of the help', () => {
    const [opening = ''] = document.split('\n## ')
    const told = [...opening.matchAll(/^- \*\*(For .+?|To .+?)\*\* (.+?)\.$/gms)].map(
      ([, heading = '', names = '']) => [heading, names.match(/(?<=\[)[a-z]+/g) ?? []],
    )
    const groups = Map.groupBy(program.commands, (command) => command.helpGroup())
    assert.deepEqual(
      told,
      [...groups].map(([heading, commands]) => [heading, commands.map((command) => command.name())]),
    )
  })

  for (const command of program.commands) {
    const section = sections.get(command.name()) ?? ''

    test(`names no option that ${command.name()} does not have`, () => {
      const known = everyCommand(command).flatMap(({ options }) => options.map(({ long }) => long))
      const named = section.match(/(?<=`)--[a-z][a-z-]*/g) ?? []
      assert.deepEqual(
        named.filter((flag) => !known.includes(flag)),
        [],
      )
    })
  }

  test('is not alone: the other documents too name only options that a command has', () => {
    const own = everyCommand(program).flatMap(({ options }) => options.map(({ long }) => long))
    const known = new Set([...own, '--help'])
    // These explain options of other programs too: of containers, of the benchmarks and of the project's own tests.
    const others = new Set(
      ['container', 'reliability', 'limits', 'speed', 'upgrading'].map((name) => `docs/${name}.md`),
    )
    for (const path of ['README.md', 'PROTOCOL.md', ...PAGES].filter((one) => !others.has(one)))
      for (const [, flag = ''] of textOf(path).matchAll(/`(--[a-z][a-z-]*)/g))
        assert.ok(known.has(flag), `${path}: ${flag}`)
  })
})
