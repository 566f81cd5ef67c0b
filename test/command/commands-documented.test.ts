import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import type { Command, Option } from 'commander'
import { everyCommand, programOf } from '../stage/command-stage.ts'
import { textOf } from '../stage/document.ts'
import { ROOT } from '../stage/places.ts'

const DOCUMENT = 'docs/commands.md'
/** Rewrites the rows of the document from the commands, after a change of their options or help texts. */
const UPDATES = process.env['UPDATE_EXAMPLES'] === '1'

const PAGES = ['docs', 'docs/runbook'].flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
)
const program = await programOf({}, () => undefined)
/** The program without plugged options. */
const core = await programOf({}, () => undefined, [], [])
const document = textOf(DOCUMENT)
const sections = new Map(
  document
    .split(/^## /m)
    .slice(1)
    .map((section) => [/^`(.+?)`/.exec(section)?.[1] ?? '', section]),
)
const optionsOf = (command: Command): readonly Option[] => command.options.filter(({ hidden }) => !hidden)

/** The row of an option: its flags, the text of `--help` with choices and default, and its variable. */
function optionRow({ flags, description, argChoices, envVar, ...option }: Option): string {
  const choices = argChoices === undefined ? '' : `: ${argChoices.map((each) => `\`${each}\``).join(', ')}`
  const value: string | boolean | undefined = option.defaultValueDescription ?? option.defaultValue
  const isTold = value === undefined || typeof value === 'boolean' || description.includes('(default: ')
  const text = description.replaceAll(/<\w+>/g, '`$&`') + choices + (isTold ? '' : ` (default: ${value})`)
  return `| \`${flags}\` | ${text} | ${envVar === undefined ? '–' : `\`${envVar}\``} |`
}

/** The row of a command below another: its arguments, its description, and the names of its options. */
function commandRow(command: Command): string {
  const places = command.registeredArguments.map((argument) => `<${argument.name()}>`).join(' ')
  const options = command.options.map(({ long }) => `\`${long ?? ''}\``).join(', ')
  return `| \`${`${command.name()} ${places}`.trim()}\` | ${command.description()} | ${options} |`
}

function rowsOf(command: Command): readonly string[] {
  return [...optionsOf(command).map(optionRow), ...command.commands.map(commandRow)]
}

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

    test(`has a row for each option and command of ${command.name()}, with the text of --help`, () => {
      // The demonstration takes the options of `serve`, but for those of plugged options: one list is enough.
      if (command.name() === 'demo') {
        const serve = core.commands.find((one) => one.name() === 'serve')
        assert.deepEqual(rowsOf(command), serve === undefined ? [] : rowsOf(serve))
        return
      }
      for (const row of rowsOf(command)) {
        if (!UPDATES) assert.ok(section.includes(`${row}\n`), `${command.name()} lacks the row ${row}`)
      }
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

  test('says from which variables the options of cluster and held are read', () => {
    const [cluster = '', held = ''] = ['cluster', 'held'].map((name) => sections.get(name) ?? '')
    const named = (text: string): readonly string[] => text.match(/(?<=`)--[a-z-]+(?=`)/g) ?? []
    const [, common = '', variables = ''] =
      /^- (.+?) from those of `serve`: (.+?)\.\n- /ms.exec(cluster) ?? []
    const [, none = ''] = /^- (.+), from none\.$/m.exec(cluster) ?? []
    assert.equal(named(common).length, variables.match(/DAYBOOK_\w+/g)?.length)
    assert.match(held, /^Each option is also read from `DAYBOOK_HELD_…`/m)

    const told = (command: Command, step: Command, long: string): string | undefined => {
      if (named(common).includes(long)) return variableOf('', long)
      if (named(none).includes(long)) return undefined
      const own = step.name() === 'keys' ? 'keys-' : ''
      return variableOf(`${command.name()}-${own}`, long)
    }
    for (const command of program.commands.filter((one) => ['cluster', 'held'].includes(one.name())))
      for (const step of everyCommand(command))
        for (const { long, envVar } of step.options)
          assert.equal(envVar, told(command, step, long ?? ''), `${step.name()} ${long}`)
  })

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
    if (UPDATES) writeFileSync(join(ROOT, DOCUMENT), program.commands.reduce(withRowsOf, document))
  })
})

/** The variable of an option. */
function variableOf(prefix: string, long: string): string {
  return `DAYBOOK_${prefix}${long.slice('--'.length)}`.toUpperCase().replaceAll('-', '_')
}

/** The document with the correct rows of a command. A row is found in its section by its first cell. */
function withRowsOf(text: string, command: Command): string {
  const start = text.indexOf(`\n## \`${command.name()}\``)
  const next = text.indexOf('\n## ', start + 1)
  const end = next < 0 ? text.length : next
  const section = rowsOf(command).reduce(
    (rows, row) => {
      const cell = row.slice(0, row.indexOf('` |') + 1)
      return rows
        .split('\n')
        .map((line) => (line.startsWith(`${cell} |`) ? row : line))
        .join('\n')
    },
    text.slice(start, end),
  )
  return text.slice(0, start) + section + text.slice(end)
}
