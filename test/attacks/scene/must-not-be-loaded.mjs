throw new Error("a real connector was loaded");
