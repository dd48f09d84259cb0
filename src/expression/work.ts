import { joinMarks, type Marks, NO_MARKS } from "../plan/marked.ts";
import type { Frame, Where } from "./frame.ts";
import { type Cell, type Plain, peelCell } from "./values.ts";

/**
 * One operation at work: where it stands, what it may spend, and the marks of all it has looked into. What
 * it gives is marked with them.
 */
export class Work {
  readonly frame: Frame;
  readonly where: Where;
  marks: Marks = NO_MARKS;

  constructor(frame: Frame, where: Where) {
    this.frame = frame;
    this.where = where;
  }

  /** Looks into a value: its marks spread to what is made of it. */
  open(cell: Cell): Plain {
    const { value, marks } = peelCell(cell);
    this.join(marks);
    return value;
  }

  join(marks: Marks): void {
    this.marks = joinMarks(this.marks, marks);
  }

  spend(visits: number): void {
    this.frame.spend(visits, this.where);
  }

  spendText(characters: number): void {
    this.frame.spendText(characters, this.where);
  }

  text(text: string): string {
    return this.frame.madeText(text, this.where);
  }

  /** `message` names kinds and places, never values. */
  fail(message: string, help = ""): never {
    this.frame.fail(this.where, message, help, this.marks);
  }

  tooLarge(message: string, help: string): never {
    this.frame.tooLarge(this.where, message, help);
  }
}
