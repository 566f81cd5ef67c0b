/** A text of the operator's as it is read: nothing in it is taken for Markdown or HTML. */
export function literal(text: string): string {
  return text.replaceAll(/[\\`*_[\]<>#|~&]/g, String.raw`\$&`)
}

export function codeBlock(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``
}

/** A table of Markdown: every row has a cell below each name, whatever stands in it. */
export function table(names: readonly string[], rows: readonly (readonly string[])[]): string {
  return [names, names.map(() => '---'), ...rows].map(lineOf).join('\n')
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.map(cellOf).join(' | ')} |`
}

/** A bar ends a cell, also between backticks; what is escaped already stays so. */
function cellOf(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/(?<!\\)\|/g, String.raw`\|`)
}
