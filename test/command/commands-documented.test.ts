import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import type { Command } from 'commander'
import { everyCommand, programOf } from '../stage/command-stage.ts'
import { textOf } from '../stage/document.ts'
import { ROOT } from '../stage/places.ts'

const DOCUMENT = 'docs/commands.md'
/** Rewrites the lists of options and the rows of commands, after a change of these. */
const UPDATES = process.env['UPDATE_EXAMPLES'] === '1'

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
/** Long names of what `--help` shows, in its order. */
const namesOf = ({ options }: Command): readonly string[] =>
  options.filter(({ hidden }) => !hidden).map(({ long }) => long ?? '')

/** The row of a command below another: its arguments, its description, and the names of its options. */
function commandRow(command: Command): string {
  const places = command.registeredArguments.map((argument) => `<${argument.name()}>`).join(' ')
  const options = namesOf(command).map((name) => `\`${name}\``)
  return `| \`${`${command.name()} ${places}`.trim()}\` | ${command.description()} | ${options.join(', ')} |`
}

/** A list of names in a section, which may run over lines. */
const LISTS = { options: /^Options: ([^.]+)\.$/m, commands: /^Commands: ([^.]+)\.$/m }

const listed = (section: string, list: RegExp): readonly string[] =>
  [...(list.exec(section)?.[1] ?? '').matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name)

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

    test(`lists what the help of ${command.name()} has`, () => {
      if (UPDATES) return
      // The demonstration takes the options of `serve`, but for those of plugged options: one list is enough.
      if (command.name() !== 'demo') assert.deepEqual(listed(section, LISTS.options), namesOf(command))
      const names = command.commands.map((one) => one.name())
      if (command.name() === 'get') assert.deepEqual(listed(section, LISTS.commands), names)
      else for (const row of command.commands.map(commandRow)) assert.ok(section.includes(`${row}\n`), row)
    })

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

  after(() => {
    if (UPDATES) writeFileSync(join(ROOT, DOCUMENT), program.commands.reduce(updated, document))
  })
})

/** The document with the correct list of options and rows of a command. */
function updated(text: string, command: Command): string {
  const start = text.indexOf(`\n## \`${command.name()}\``)
  const next = text.indexOf('\n## ', start + 1)
  const section = text.slice(start, next < 0 ? text.length : next)
  const options = namesOf(command).map((name) => `\`${name}\``)
  const rows = command.commands.map((one) => `${commandRow(one)}\n`).join('')
  const right = section
    .replace(LISTS.options, () => `Options: ${options.join(', ')}.`)
    .replace(/(?<=^\| Command .*\n\|[-|]+\n)(?:\|.*\n)+/m, () => rows)
  return text.replace(section, () => right)
}
