/** Whether anything is still waited for: a forced cancel begins it, once. */
export class Hurry {
  #on = false;
  readonly #told = new Set<() => void>();

  get isOn(): boolean {
    return this.#on;
  }

  begin(): void {
    this.#on = true;
    for (const tell of [...this.#told]) tell();
  }

  tell(listener: () => void): void {
    this.#told.add(listener);
  }

  forget(listener: () => void): void {
    this.#told.delete(listener);
  }
}
