"""Write a trained model in the format that `transformers` loads as `Olmo2ForCausalLM`."""

from pathlib import Path
from typing import Any, cast

from safetensors.torch import save_file
from torch import Tensor

from olmix.files import replacing, write_json
from olmix.model.shapes import ModelShape
from olmix.model.transformer import Block, Transformer

__all__ = ["export_model", "transformers_config", "transformers_tensors"]


def transformers_tensors(model: Transformer) -> dict[str, Tensor]:
    """The model's weights under the names `transformers` uses, shared matrices split."""
    tensors = {
        "model.embed_tokens.weight": model.embedding.weight,
        "model.norm.weight": model.norm.weight,
        "lm_head.weight": model.head.weight,
    }
    for number, module in enumerate(model.blocks):
        block = cast("Block", module)
        prefix = f"model.layers.{number}."
        attention, mlp = block.attention, block.mlp
        for name, part in zip("qkv", attention.qkv.weight.chunk(3), strict=True):
            tensors[f"{prefix}self_attn.{name}_proj.weight"] = part
        tensors |= {
            f"{prefix}self_attn.o_proj.weight": attention.out.weight,
            f"{prefix}self_attn.q_norm.weight": attention.qk_norm.weight[0],
            f"{prefix}self_attn.k_norm.weight": attention.qk_norm.weight[1],
            f"{prefix}post_attention_layernorm.weight": block.attention_norm.weight,
            f"{prefix}mlp.gate_proj.weight": mlp.gate.weight,
            f"{prefix}mlp.up_proj.weight": mlp.up.weight,
            f"{prefix}mlp.down_proj.weight": mlp.down.weight,
            f"{prefix}post_feedforward_layernorm.weight": block.mlp_norm.weight,
        }
    return {name: tensor.detach() for name, tensor in tensors.items()}


def transformers_config(shape: ModelShape, end_of_text: int | None = None) -> dict[str, Any]:
    """The ``config.json`` of a shape."""
    return {
        "architectures": ["Olmo2ForCausalLM"],
        "model_type": "olmo2",
        "vocab_size": shape.vocab_size,
        "hidden_size": shape.d_model,
        "intermediate_size": shape.mlp_hidden,
        "num_hidden_layers": shape.n_layers,
        "num_attention_heads": shape.n_heads,
        "num_key_value_heads": shape.n_heads,
        "max_position_embeddings": shape.context_length,
        "rope_theta": shape.rope_theta,
        # Releases from 5.0 on read this one, earlier ones the line above.
        "rope_parameters": {"rope_type": "default", "rope_theta": shape.rope_theta},
        "rms_norm_eps": shape.norm_eps,
        "hidden_act": "silu",
        "attention_bias": False,
        "attention_dropout": 0.0,
        "tie_word_embeddings": False,
        "bos_token_id": None,
        "eos_token_id": end_of_text,
        "pad_token_id": None,
        "use_cache": True,
        "torch_dtype": "float32",
    }


def export_model(model: Transformer, folder: str | Path, end_of_text: int | None = None) -> None:
    """Write ``config.json`` and ``model.safetensors`` into ``folder``, the config last."""
    folder = Path(folder)
    tensors = {
        name: tensor.cpu().contiguous() for name, tensor in transformers_tensors(model).items()
    }
    with replacing(folder / "model.safetensors") as temporary:
        save_file(tensors, temporary, {"format": "pt"})
    write_json(folder / "config.json", transformers_config(model.shape, end_of_text))
