import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Command } from 'commander'
import { everyCommand, programOf } from '../stage/command-stage.ts'
import { textOf } from '../stage/document.ts'

const program = programOf({}, () => undefined)
const sections = new Map(
  textOf('docs/commands.md')
    .split(/^## /m)
    .slice(1)
    .map((section) => [/^`(.+?)`/.exec(section)?.[1] ?? '', section]),
)
const optionsOf = (command: Command): readonly string[] =>
  command.options.filter(({ hidden }) => !hidden).map(({ flags }) => flags)

/** The rows of the tables in a section, each by what stands in its first cell. */
function rowsOf(section: string): ReadonlyMap<string, string> {
  return new Map(
    [...section.matchAll(/^\| `([^`]+)` *\|(.*)$/gm)].map(([, name = '', row = '']) => [name, row]),
  )
}

suite('the document of the commands', () => {
  test('has a section for each command, and for no other', () => {
    const names = program.commands.map((command) => command.name())
    assert.deepEqual([...sections.keys()].toSorted(), names.toSorted())
  })

  for (const command of program.commands) {
    const section = sections.get(command.name()) ?? ''
    const rows = rowsOf(section)

    test(`has a row for each option of ${command.name()}, with the variable that it is read from`, () => {
      // The demonstration takes what `serve` takes: one list is enough.
      if (command.name() === 'demo') {
        const serve = program.commands.find((one) => one.name() === 'serve')
        assert.deepEqual(optionsOf(command), serve === undefined ? [] : optionsOf(serve))
        return
      }
      for (const { flags, envVar = '' } of command.options) {
        assert.ok(
          rows.get(flags)?.includes(envVar),
          `${command.name()} lacks a row | \`${flags}\` | … | \`${envVar}\` |`,
        )
      }
    })

    test(`has a row for each command below ${command.name()}, with its options`, () => {
      for (const below of command.commands) {
        const places = below.registeredArguments.map((argument) => `<${argument.name()}>`).join(' ')
        const row = rows.get(`${below.name()} ${places}`) ?? ''
        for (const { long } of below.options) {
          assert.ok(row.includes(`\`${long ?? ''}\``), `${command.name()} ${below.name()} ${long ?? ''}`)
        }
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
})
