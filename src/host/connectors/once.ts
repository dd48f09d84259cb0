/** Something that is made once, however many ask for it; what failed may be tried again by the next who asks. */
export class Once<T> {
  #made: Promise<T> | null = null;

  get(make: () => Promise<T>): Promise<T> {
    if (this.#made) return this.#made;
    const made = make();
    this.#made = made;
    made.catch(() => {
      if (this.#made === made) this.#made = null;
    });
    return made;
  }
}
